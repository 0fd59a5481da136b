"""Embeddings: Where do queries meet keys?"""

from lib.ui.guard import through_the_door

through_the_door()

from lib.ui.frame import not_built, question

question("Where do queries meet keys?")
not_built("Embeddings", "It will map queries and keys of every head together.")
