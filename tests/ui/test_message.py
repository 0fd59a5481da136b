from streamlit.testing.v1 import AppTest


def two_problems():
    from lib.errors import HeadlightError
    from lib.ui.message import guarded

    for _ in range(2):
        with guarded("this text"):
            raise HeadlightError("a text", "nothing", "Paste one.")


def test_the_same_problem_can_stand_on_a_page_twice():
    app = AppTest.from_function(two_problems).run()
    assert not app.exception
    assert [text.value for text in app.text].count("Paste one.") == 2
