import io

from rich.console import Console

from evenhand.reports.grids import Grid, grid_csv, grid_html, grid_latex, print_grid

GRID = Grid(
    name="table_1",
    title="Paper & ours",
    headings=("class", "paper", "ours", "difference"),
    rows=[("<racism>", ".702", ".711", "+.009"), ("=1+1", ".5", ".4", "−.100")],
    narrow=(0, 2),
)


def printed(width: int) -> str:
    out = io.StringIO()
    print_grid(GRID, console=Console(width=width, file=out))
    return out.getvalue()


def test_a_narrow_terminal_shows_the_chosen_columns_whole():
    wide, narrow = printed(80), printed(24)
    assert "difference" in wide
    assert "+.009" in wide
    assert "difference" not in narrow
    assert "<racism>" in narrow
    assert ".711" in narrow


def test_texts_are_escaped_everywhere():
    assert "&lt;racism&gt;" in grid_html(GRID, "g")
    assert "Paper &amp; ours" in grid_html(GRID, "g")
    assert r"\textless{}racism\textgreater{}" in grid_latex(GRID)


def test_csv_keeps_signed_numbers_and_runs_no_formula():
    lines = grid_csv(GRID).splitlines()
    assert lines[1] == "<racism>,.702,.711,+.009"
    assert lines[2].startswith("'=1+1")


def test_numbers_stand_right_and_words_left():
    html = grid_html(GRID, "g")
    assert '<th scope="col" class="number">paper</th>' in html
    assert "lrrr" in grid_latex(GRID)
