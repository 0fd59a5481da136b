"""Pasted text and uploaded text files: what survives, what is said, what is refused."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.corpora import Reading, from_file, from_text, read_file, read_text
from lib.corpora.reading import MAX_BYTES
from lib.corpora.records import MAX_ROWS
from lib.errors import HeadlightError

TRICKY = "Seán said “don’t” in 東京 and 서울. [SEP] 💩 </script><b>a<b שלום سلام"


@pytest.mark.parametrize("text", ["", " ", "\n\t \r\n", "\0\0", "\ufeff"])
def test_empty_text_is_refused(text):
    with pytest.raises(HeadlightError, match="only white space"):
        from_text(text)


def test_text_above_5_mb_is_refused_and_below_is_read():
    with pytest.raises(HeadlightError, match=r"at most 5 MB.*5\.[0-9] MB"):
        from_text("a" * (MAX_BYTES + 200_000))
    with pytest.raises(HeadlightError, match="at most 5 MB"):
        read_file(b"a" * (MAX_BYTES + 1), "long.txt")
    assert len(from_text("word. " * 10_000)[0].text) == 60_000


def test_tricky_text_survives_unchanged():
    reading = read_text(TRICKY, "pasted")
    assert reading.documents[0].text == TRICKY and reading.notes == ()
    assert reading.documents[0].topics == ((0, len(TRICKY)),) and not reading.documents[0].gold
    assert from_file(TRICKY.encode(), "a.txt")[0].text == TRICKY


def test_line_ends_nul_and_broken_characters_are_cleaned_and_said():
    reading = read_text("one\r\ntwo\rthree\0\0 \ud83d four")
    assert reading.documents[0].text == "one\ntwo\nthree \ufffd four"
    assert reading.notes == ("Removed 2 NUL characters.", "Replaced 1 broken character by \ufffd.")


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_with_a_message(text):
    try:
        document = from_text(text)[0]
    except HeadlightError as error:
        assert not any(unicodedata.category(c)[0] in "LNPSM" for c in text) and str(error)
        return
    assert "\0" not in document.text and "\r" not in document.text and document.sentences


@pytest.mark.parametrize(
    ("encoding", "note"),
    [
        ("utf-8", None),
        ("utf-8-sig", None),
        ("utf-16", "UTF-16"),
        ("utf-16-be", "UTF-16"),
        ("cp1252", "Windows-1252"),
    ],
)
def test_encodings(encoding, note):
    text = "Naïve café, “quoted” — done."
    data = text.encode(encoding)
    if encoding == "utf-16-be":
        data = b"\xfe\xff" + data
    reading = read_file(data, "a.txt")
    assert reading.documents[0].text == text
    assert [note in said for said in reading.notes] == ([True] if note else [])


@pytest.mark.parametrize(
    ("data", "name", "message"),
    [
        (b"", "empty.txt", "0 bytes"),
        (b"", "empty.png", "0 bytes"),
        (bytes(range(256)) * 9, "noise.txt", "not text"),
        (b"%PDF-1.7 and more", "paper.pdf", "PDF"),
        (b"PK\x03\x04 and more", "letter.docx", "ZIP"),
        (b"GGUF\x03\0\0\0" + bytes(16), "model.txt", "a model"),
        (b"\x80\x04\x95\x10\0\0\0\0\0\0\0}\x94\x8c\x01", "weights.pkl", "not text"),
        ("words without a mark".encode("utf-16-le"), "a.txt", "byte-order mark"),
        (b"\xff\xfea\x00b", "odd.txt", "another encoding"),
        (b"caf\x81 and \x8d", "a.txt", "another encoding"),
        (b"   \n ", "blank.md", "only white space"),
    ],
)
def test_what_is_not_text_is_refused(data, name, message):
    with pytest.raises(HeadlightError, match=message):
        read_file(data, name)


def test_paths(tmp_path):
    path = tmp_path / "notes.md"
    path.write_text("# Head\n\nA line.", encoding="utf-8")
    document = from_file(path)[0]
    assert (document.name, document.text) == ("notes", "# Head\n\nA line.")
    assert from_file(str(path))[0] == document
    for missing in (tmp_path / "none.txt", tmp_path):
        with pytest.raises(HeadlightError, match="Check the path"):
            from_file(missing)


def test_an_unknown_ending_is_read_as_text():
    assert from_file(b"print('hello')", "program.py")[0].text == "print('hello')"


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_csv_takes_the_column_of_texts_and_says_so(delimiter):
    rows = [
        ["id", "author", "remark"],
        ["1", "Ann", '"A long remark, with a comma; and more."'],
        ["2", "Bo", "Another long one."],
        ["3", "", ""],
    ]
    reading = read_file("\r\n".join(delimiter.join(row) for row in rows).encode(), "remarks.csv")
    assert [d.text for d in reading.documents] == ["A long remark, with a comma; and more.", "Another long one."]
    assert reading.documents[1].name == "remarks 2"
    assert "'remark'" in reading.notes[0] and "2 in all" in reading.notes[0]


def test_csv_separators_are_those_of_the_header_line():
    quoted = b'\n"no; number"|text|b\n1| "one, two; three | four"|x\n2|", \'a\', \'b\'"|y\n'
    assert [d.text for d in read_file(quoted, "t.csv").documents] == ["one, two; three | four", ", 'a', 'b'"]
    assert read_file(b"text\nno separator; at all\n", "t.csv").documents[0].text == "no separator; at all"


def test_csv_prefers_a_telling_name():
    reading = read_file(b"text,description\nshort,a very very long description\n", "t.csv")
    assert reading.documents[0].text == "short"


@pytest.mark.parametrize("data", [b"only,a,header\n", b"1,2\n3,4\n", b"a,b\n\n,\n", b'a,b\n"never closed,2\n'])
def test_csv_without_texts_is_refused(data):
    with pytest.raises(HeadlightError, match="table with a header"):
        read_file(data, "bad.csv")


def test_csv_bounds_its_rows():
    data = "text\n" + "a line of text\n" * (MAX_ROWS + 5)
    reading = read_file(data.encode(), "many.csv")
    assert len(reading.documents) == MAX_ROWS and "first 2,000 of 2,005" in reading.notes[-1]


def test_jsonl():
    lines = [{"text": "One\0 line."}, {"text": "  "}, {"text": "Two 東.", "name": "second", "more": [1]}]
    reading = read_file("\n".join(map(json.dumps, lines)).encode() + b"\n\n", "rows.jsonl")
    assert [(d.name, d.text) for d in reading.documents] == [("rows 1", "One line."), ("second", "Two 東.")]
    assert reading.notes == ("Left out 1 empty text.",)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "not JSON"),
        ("[1]", "no text"),
        ('{"text": 3}', "no text"),
        ('{"content": "a"}', "no text"),
        ("[" * 90_000, "not JSON"),
    ],
)
def test_malformed_jsonl_names_its_line(line, problem):
    with pytest.raises(HeadlightError, match=f"line 3 of 'rows': {problem}"):
        read_file(f'{{"text": "fine"}}\n\n{line}\n'.encode(), "rows.jsonl")


def test_jsonl_without_texts_is_refused():
    with pytest.raises(HeadlightError, match="no text at all"):
        read_file(b'{"text": ""}', "rows.jsonl")


def test_reading_is_a_value():
    assert Reading(()) == Reading((), ())


@pytest.mark.parametrize(
    "text", ["SQLite is a small database.", "MZ was the name.", "GGUF is a file format.", "RIFF raff"]
)
def test_a_text_may_begin_like_another_kind_of_file(text):
    assert from_file(text.encode(), name="note.txt")[0].text == text


@pytest.mark.parametrize("text", ["\u200b", "\u200b \u00ad\n", "\u2060\ufeff"])
def test_a_text_of_invisible_characters_is_refused(text):
    with pytest.raises(HeadlightError, match="words in it"):
        from_text(text)


def test_rows_of_a_table_that_are_left_out_are_counted():
    table = "name,text\na,one text\nb,two, with a stray comma\nc,\nd,four"
    reading = read_file(table.encode(), name="t.csv")
    assert [(d.name, d.text) for d in reading.documents] == [("t 1", "one text"), ("t 4", "four")]
    assert any("Left out 1 of 4 rows" in note for note in reading.notes)
    assert any("Left out 1 rows without text" in note for note in reading.notes)


@pytest.mark.parametrize(("table", "told"), [('text\n"one\ntwo\n', True), ('text\n"one"\n"two ""x"""\n', False)])
def test_a_quotation_that_is_never_closed_is_told(table, told):
    reading = read_file(table.encode(), name="t.csv")
    assert len(reading.documents) == (1 if told else 2)
    assert any("never closed" in note for note in reading.notes) is told


def test_long_runs_of_full_stops_come_back():
    text = "." * 2_000_000 + " End."  # what takes quadratic time would be at it for hours
    assert from_text(text)[0].sentences == ((0, 2_000_000), (2_000_001, len(text)))


@pytest.mark.parametrize(
    ("line", "problem"),
    [('{"text": "hello", "n": ' + "1" * 5000 + "}", "huge number"), ("[" * 100_000, "nested too deeply")],
)
def test_json_that_python_refuses_to_read_is_refused_with_its_line(line, problem):
    with pytest.raises(HeadlightError, match=f"line 1.*{problem}"):
        from_file(line.encode(), name="t.jsonl")


def test_names_in_jsonl_are_cleaned_like_texts():
    assert from_file(b'{"text": "hello", "name": "\\ud800x"}', name="t.jsonl")[0].name == "\ufffdx"


def test_a_path_with_nul_is_no_file():
    with pytest.raises(HeadlightError, match="Check the path"):
        from_file("a\0b")
