"""Similarity: Which tokens does a head draw together?"""

from lib.ui.frame import not_built, question
from lib.ui.guard import through_the_door

through_the_door()
question("Which tokens does a head draw together?")
not_built("Similarity", "It will compare the output vectors of every head.")
