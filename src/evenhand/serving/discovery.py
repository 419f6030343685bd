"""The document from which Google's clients learn how to call."""

from __future__ import annotations

from typing import Any

NAME, VERSION = "commentanalyzer", "v1alpha1"
_REVISION = "20190414"
_TEXT, _WHOLE, _NUMBER, _FLAG = (
    {"type": "string"},
    {"type": "integer", "format": "int32"},
    {"type": "number", "format": "float"},
    {"type": "boolean"},
)
_SCORE_TYPES = ["SCORE_TYPE_UNSPECIFIED", "PROBABILITY", "STD_DEV_SCORE", "PERCENTILE", "RAW"]


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": name}


def _list(of: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": of}


def _by_name(of: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": of}


def _schema(name: str, about: str, **properties: dict[str, Any]) -> dict[str, Any]:
    return {"id": name, "type": "object", "description": about, "properties": properties}


def _said(about: str, of: dict[str, Any]) -> dict[str, Any]:
    return {**of, "description": about}


_COMMENT = _said("The text, as plain text.", _ref("TextEntry"))
_AROUND = _said("What stands around it; read, and not heeded.", _ref("Context"))
_LANGUAGES = _said("Of the text; told from it unless named.", _list(_TEXT))
_TOKEN = _said("Comes back with the answer.", _TEXT)
_COMMUNITY = _said("Where the text was written.", _TEXT)
_SESSION = _said("Who sends it, in a word of the caller's.", _TEXT)

_SCHEMAS = [
    _schema(
        "TextEntry", "A text.", text=_TEXT,
        type={"type": "string", "enum": ["TEXT_TYPE_UNSPECIFIED", "PLAIN_TEXT", "HTML"]},
    ),
    _schema(
        "ArticleAndParentComment", "What a comment is on.",
        article=_ref("TextEntry"), parentComment=_ref("TextEntry"),
    ),
    _schema(
        "Context", "What stands around a comment; either of the two.",
        entries=_list(_ref("TextEntry")), articleAndParentComment=_ref("ArticleAndParentComment"),
    ),
    _schema(
        "AttributeParameters", "How an attribute is wanted.",
        scoreType={"type": "string", "enum": _SCORE_TYPES}, scoreThreshold=_NUMBER,
    ),
    _schema(
        "Score", "A score.", value=_NUMBER, type={"type": "string", "enum": _SCORE_TYPES},
    ),
    _schema(
        "SpanScore", "The score of a part of a text; offsets are UTF-16 units, the end exclusive.",
        begin=_WHOLE, end=_WHOLE, score=_ref("Score"),
    ),
    _schema(
        "AttributeScores", "The scores of an attribute.",
        summaryScore=_ref("Score"), spanScores=_list(_ref("SpanScore")),
    ),
    _schema(
        "AnalyzeCommentRequest", "A text and the attributes wanted of it.",
        comment=_COMMENT, context=_AROUND,
        requestedAttributes=_said(
            "By name; a score below its scoreThreshold is left out.",
            _by_name(_ref("AttributeParameters")),
        ),
        languages=_LANGUAGES,
        doNotStore=_said("No text to be scored is ever kept.", _FLAG),
        spanAnnotations=_said("Also scores of sentences.", _FLAG),
        dropUnsupportedAttributes=_said("Leave out what is not known.", _FLAG),
        clientToken=_TOKEN, sessionId=_SESSION, communityId=_COMMUNITY,
    ),
    _schema(
        "AnalyzeCommentResponse", "Scores by attribute.",
        attributeScores=_by_name(_ref("AttributeScores")), languages=_list(_TEXT),
        detectedLanguages=_list(_TEXT), clientToken=_TEXT, untestedLanguages=_list(_TEXT),
    ),
    _schema(
        "SuggestCommentScoreRequest", "Scores that a person finds right.",
        comment=_COMMENT, context=_AROUND,
        attributeScores=_said("By attribute, 0 to 1.", _by_name(_ref("AttributeScores"))),
        languages=_LANGUAGES,
        doNotStore=_said("True unless the owner chose otherwise.", _FLAG),
        communityId=_COMMUNITY, clientToken=_TOKEN, sessionId=_SESSION,
    ),
    _schema(
        "SuggestCommentScoreResponse", "That they were taken.",
        clientToken=_TEXT, detectedLanguages=_list(_TEXT), requestedLanguages=_list(_TEXT),
    ),
]  # fmt: skip


def _query(kind: str, about: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "description": about, "location": "query", **more}


_PARAMETERS = {
    "key": _query("string", "API key."),
    "alt": _query("string", "Form of the answer.", default="json", enum=["json", "media", "proto"]),
    "prettyPrint": _query("boolean", "Tolerated.", default="true"),
    "fields": _query("string", "Tolerated: answers are whole."),
    "quotaUser": _query("string", "Tolerated."),
    "$.xgafv": _query("string", "Tolerated.", enum=["1", "2"]),
}


def document(root: str) -> dict[str, Any]:
    """The document of a server whose root is ``root``, which ends in a slash."""

    def method(verb: str, asked: str, answered: str, about: str) -> dict[str, Any]:
        path = f"{VERSION}/comments:{verb}"
        return {
            "id": f"{NAME}.comments.{verb}",
            "path": path,
            "flatPath": path,
            "httpMethod": "POST",
            "description": about,
            "parameters": {},
            "parameterOrder": [],
            "request": _ref(asked),
            "response": _ref(answered),
        }

    return {
        "kind": "discovery#restDescription",
        "discoveryVersion": "v1",
        "id": f"{NAME}:{VERSION}",
        "name": NAME,
        "version": VERSION,
        "revision": _REVISION,
        "title": "Evenhand, in the dialect of the Perspective Comment Analyzer",
        "description": "Scores of texts, by the detector of this server.",
        "protocol": "rest",
        "rootUrl": root,
        "servicePath": "",
        "baseUrl": root,
        "basePath": "",
        "batchPath": "batch",
        "parameters": _PARAMETERS,
        "schemas": {schema["id"]: schema for schema in _SCHEMAS},
        "resources": {
            "comments": {
                "methods": {
                    "analyze": method(
                        "analyze", "AnalyzeCommentRequest", "AnalyzeCommentResponse",
                        "Scores of a text.",
                    ),
                    "suggestscore": method(
                        "suggestscore", "SuggestCommentScoreRequest",
                        "SuggestCommentScoreResponse", "Suggest scores of a text.",
                    ),
                }
            }
        },
    }  # fmt: skip
