"""Segmentation: Where does the model think a sentence, or a topic, ends?"""

from lib.ui.guard import through_the_door

through_the_door()

from lib.ui.frame import not_built, question

question("Where does the model think a sentence, or a topic, ends?")
not_built("Segmentation", "It will cut text where attention does.")
