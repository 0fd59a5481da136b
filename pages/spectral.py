"""Spectral: At which distances does attention live, and how many patterns does it take?"""

from lib.ui.frame import not_built, question
from lib.ui.guard import through_the_door

through_the_door()
question("At which distances does attention live, and how many patterns does it take?")
not_built("Spectral", "It will show attention by lag, scale and mode.")
