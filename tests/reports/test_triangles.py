from evenhand.reports import simplex

CORNERS = ("No", "Problematic", "Abusive")


def test_every_mix_of_votes_is_a_circle_and_corners_are_named():
    figure = simplex("Votes", CORNERS, [("people", {(3, 0, 0): 8, (1, 1, 1): 2})])
    assert figure.svg.count("<path") == 3  # a triangle and two circles
    assert all(corner in figure.svg for corner in CORNERS)
    assert "people: 80 % of posts in a corner" in figure.alt


def test_simulated_ones_say_so():
    assert "(simulated)" in simplex("Votes", CORNERS, [("x", {(1, 0, 0): 1})], simulated=True).svg
