"""Tokens that are known by their own shape: what they begin with, which letters follow and how many."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

Span = tuple[int, int]

EDGE = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"
"""No letter before; the last letter of an escaped line end is none."""
_WORD_EDGE = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))"
"""Nothing of the token's own letters before, so that each stretch of them is tried once."""

_ANY = r"[A-Za-z0-9_-]"
_ALNUM = r"[A-Za-z0-9]"
_HEX = r"[0-9a-f]"
_BASE = r"[A-Za-z0-9+/]"
_MIXED = r"(?=[A-Za-z_-]{0,42}[0-9])(?=[a-z0-9_-]{0,42}[A-Z])"
"""A digit and a capital within the first letters, as chance has it and names rarely do."""
_UUID4 = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"

_SHAPES: dict[str, str] = {
    # models and tools for agents
    "sk-": rf"sk-(?=[a-z_-]{{0,80}}[0-9A-Z]){_ANY}{{20,}}",
    "hf_": rf"hf_{_ALNUM}{{30,}}",
    "api_org_": rf"api_org_{_ALNUM}{{30,}}",
    "gsk_": rf"gsk_{_ALNUM}{{30,}}",
    "xai-": rf"xai-{_ALNUM}{{40,}}",
    "pplx-": rf"pplx-{_ALNUM}{{40,}}",
    "r8_": rf"r8_{_ANY}{{30,}}",
    "nvapi-": rf"nvapi-{_ANY}{{40,}}",
    "pcsk_": rf"pcsk_{_ALNUM}{{4,8}}_{_ALNUM}{{40,}}",
    "lsv2_": rf"lsv2_(?:pt|sk)_{_HEX}{{32}}_{_HEX}{{8,}}",
    "ls__": rf"ls__{_HEX}{{32}}",
    "tvly-": rf"tvly-(?:(?:dev|prod)-)?(?=[a-z-]{{0,60}}[0-9A-Z]){_ANY}{{20,}}",
    "jina_": rf"jina_{_ALNUM}{{40,}}",
    "tgp_v1_": rf"tgp_v1_{_ANY}{{30,}}",
    "e2b_": rf"e2b_{_HEX}{{40}}",
    "fc-": rf"fc-{_HEX}{{32}}(?!{_ALNUM})",
    "sgp_": rf"sgp_(?:(?:{_HEX}{{16}}|local)_)?{_HEX}{{40}}",
    "slk_": rf"slk_{_HEX}{{64}}",
    "phx_": rf"phx_{_ALNUM}{{40,}}",
    "fw_": rf"fw_{_MIXED}{_ALNUM}{{22,24}}(?!{_ANY})",
    "pa-": rf"pa-{_MIXED}{_ANY}{{43}}(?!{_ANY})",
    **{f"{kind}-": rf"{kind}-{_MIXED}{_ALNUM}{{22}}(?!{_ANY})" for kind in ("ak", "as")},
    "wandb_v1_": rf"wandb_v1_{_ANY}{{40,}}",
    "crsr_": rf"crsr_{_HEX}{{64}}",
    "key_": rf"key_{_HEX}{{64}}(?!{_ALNUM})",
    "apify_api_": rf"apify_api_{_ALNUM}{{30,}}",
    "bb_live_": rf"bb_live_{_ANY}{{24,}}",
    "4b1d": rf"4b1d{_ALNUM}{{38}}(?!{_ALNUM})",
    # forges, registries, pipelines
    **{f"gh{kind}_": rf"gh{kind}_{_ALNUM}{{20,}}" for kind in "pousr"},
    "github_pat_": r"github_pat_[A-Za-z0-9_]{20,}",
    **{
        f"gl{kind}-": rf"gl{kind}-{_ANY}{{16,}}(?:\.[0-9a-z.]{{8,12}})?"
        for kind in ("pat", "dt", "rt", "cbt", "ft", "soat", "ffct", "imt", "agent", "oas", "ptt")
    },
    "GR1348941": rf"GR1348941{_ANY}{{20,}}",
    "ATATT3": r"ATATT3[A-Za-z0-9_=-]{40,}",
    "ATCTT3": r"ATCTT3[A-Za-z0-9_=+/-]{40,}",
    "ATBB": rf"ATBB{_ALNUM}{{32}}(?!{_ALNUM})",
    "BBDC-": r"BBDC-[A-Za-z0-9+/@_-]{40,}",
    "chpt_": rf"chpt_{_HEX}{{12,}}",
    "rootly_": rf"rootly_{_HEX}{{64}}",
    "npm_": rf"npm_{_ALNUM}{{36}}",
    "pypi-": rf"pypi-{_ANY}{{50,}}",
    "rubygems_": rf"rubygems_{_HEX}{{40,}}",
    "CLOJARS_": rf"CLOJARS_{_ALNUM}{{50,}}",
    "dckr_pat_": rf"dckr_pat_{_ANY}{{20,}}",
    "dckr_oat_": rf"dckr_oat_{_ANY}{{20,}}",
    "AKCp": rf"AKCp{_ALNUM}{{60,}}",
    "cmVmd": rf"cmVmd{_ALNUM}{{59}}(?!{_ALNUM})",
    "CCIPAT_": rf"CCIPAT_{_ALNUM}{{16,}}_{_HEX}{{32,}}",
    "CCIPRJ_": rf"CCIPRJ_{_ALNUM}{{16,}}_{_HEX}{{32,}}",
    "bkua_": rf"bkua_{_HEX}{{40}}",
    "sqp_": rf"sqp_{_HEX}{{40}}",
    "squ_": rf"squ_{_HEX}{{40}}",
    "sqa_": rf"sqa_{_HEX}{{40}}",
    **{f"sm_{kind}_": rf"sm_{kind}_{_ALNUM}{{16}}(?!{_ALNUM})" for kind in ("aat", "pat", "sat")},
    **{f"{kind}-s4t2": rf"{kind}-s4t2(?:ud|af)-{_HEX}{{64}}" for kind in "su"},
    # clouds and hosting
    **{f"{kind}": rf"{kind}[A-Z2-7]{{16}}(?!{_ALNUM})" for kind in ("AKIA", "ASIA", "ABIA", "ACCA")},
    "A3T": rf"A3T[A-Z0-9][A-Z2-7]{{16}}(?!{_ALNUM})",
    "ABSK": rf"ABSK{_BASE}{{100,}}",
    "bedrock-api-key-": rf"bedrock-api-key-{_BASE}{{20,}}",
    "AIza": rf"AIza{_ANY}{{35}}",
    "GOCSPX-": rf"GOCSPX-{_ANY}{{20,}}",
    "LTAI": rf"LTAI{_ALNUM}{{16,24}}(?!{_ALNUM})",
    **{f"do{kind}_v1_": rf"do{kind}_v1_{_HEX}{{60,}}" for kind in "opr"},
    "dapi": rf"dapi{_HEX}{{32}}(?:-\d)?(?!{_ALNUM})",
    "sbp_": rf"sbp_{_HEX}{{40}}",
    "sb_secret_": rf"sb_secret_{_ANY}{{20,}}",
    "fo1_": rf"fo1_{_ANY}{{40,}}",
    "fm1a_": rf"fm1a_{_BASE}{{40,}}",
    "fm1r_": rf"fm1r_{_BASE}{{40,}}",
    "fm2_": rf"fm2_{_BASE}{{40,}}",
    "pscale_": r"pscale_(?:tkn|oauth|pw)_[A-Za-z0-9_=.-]{30,}",
    "HRKU-": rf"HRKU-{_ANY}{{40,}}",
    "nfp_": rf"nfp_{_ALNUM}{{36,}}",
    "rnd_": rf"rnd_{_ALNUM}{{28,}}",
    "napi_": rf"napi_{_ALNUM}{{50,}}",
    "pul-": rf"pul-{_HEX}{{40}}",
    "pnu_": rf"pnu_{_ALNUM}{{36}}",
    "cfut_": rf"cfut_{_ALNUM}{{40,}}",
    "cfk_": rf"cfk_{_ALNUM}{{40,}}",
    **{f"vc{kind}_": rf"vc{kind}_{_ALNUM}{{50,}}" for kind in "pickra"},
    "vercel_blob_rw_": rf"vercel_blob_rw_{_ANY}{{30,}}",
    "tr_": rf"tr_(?:prod|dev|stg|preview)_{_ALNUM}{{20,}}",
    "signkey-": rf"signkey-[a-z]{{2,20}}-{_HEX}{{32,}}",
    "aio_": rf"aio_{_MIXED}{_ALNUM}{{28}}(?!{_ANY})",
    "cfat_": rf"cfat_{_ALNUM}{{40,}}",
    "tk-us-": rf"tk-us-{_ANY}{{48}}(?!{_ANY})",
    "tskey-": rf"tskey-[a-z]{{2,12}}-{_ALNUM}{{6,}}-{_ALNUM}{{16,}}",
    # watching and telling
    "glsa_": rf"glsa_{_ALNUM}{{32}}_[A-Fa-f0-9]{{8}}",
    "glc_": rf"glc_{_BASE}{{32,}}",
    "eyJrIjoi": rf"eyJrIjoi{_BASE}{{40,}}",
    **{f"NR{kind}-": rf"NR{kind}-{_ANY}{{19,}}" for kind in ("AK", "II", "JS", "RA", "IQ", "AA", "BR")},
    **{f"dd{kind}_": rf"dd{kind}_{_ALNUM}{{36}}(?!{_ALNUM})" for kind in "pw"},
    **{f"{kind}-": rf"{kind}-{_UUID4}(?!{_ALNUM})" for kind in ("api", "sdk")},
    "sntrys_": r"sntrys_[A-Za-z0-9_+/=-]{40,}",
    "sntryu_": rf"sntryu_{_HEX}{{64}}",
    "xox": rf"xox[abeoprs]-{_ANY}{{10,}}",
    "xapp-": rf"xapp-[0-9]-{_ANY}{{10,}}",
    # work, design, shops, money
    "ntn_": rf"ntn_{_ALNUM}{{40,}}",
    "secret_": rf"secret_{_ALNUM}{{43}}(?!{_ALNUM})",
    **{f"fig{kind}_": rf"fig{kind}_{_ANY}{{38,}}" for kind in ("d", "p", "u", "o", "ur", "uh", "or", "oh")},
    "PMAK-": rf"PMAK-{_HEX}{{24}}-{_HEX}{{34}}",
    "lin_api_": rf"lin_api_{_ALNUM}{{30,}}",
    "lin_oauth_": rf"lin_oauth_{_ALNUM}{{30,}}",
    "CFPAT-": rf"CFPAT-{_ANY}{{40,}}",
    "pat-na1-": rf"pat-na1-{_UUID}",
    "pat-eu1-": rf"pat-eu1-{_UUID}",
    "tfp_": r"tfp_[A-Za-z0-9_.=-]{40,}",
    "sk_": rf"sk_(?:(?:live|test|prod)_{_ALNUM}{{10,}}|{_HEX}{{48}})",
    "rk_": rf"rk_(?:live|test|prod)_{_ALNUM}{{10,}}",
    **{f"{kind}_": rf"{kind}_{_ALNUM}{{24}}_secret_{_ALNUM}{{20,}}" for kind in ("pi", "seti")},
    "pk_": rf"pk_[0-9]{{5,12}}_[A-Z0-9]{{32}}(?!{_ALNUM})",
    "re_": rf"re_{_ALNUM}{{8}}_(?=[A-Za-z]{{0,23}}[0-9]){_ALNUM}{{24}}(?!{_ALNUM})",
    "ramp_sec_": rf"ramp_sec_{_ALNUM}{{40,}}",
    "sandbox-sq0": rf"sandbox-sq0[a-z]{{3}}-{_ANY}{{22,}}",
    "sqco_": rf"sqco_{_ALNUM}{{50,}}",
    "3MVG9": r"3MVG9[A-Za-z0-9._+/=]{80,}",
    "rzp_live_": rf"rzp_live_{_ALNUM}{{14,}}",
    "whsec_": rf"whsec_{_ALNUM}{{16,}}",
    "sq0atp-": rf"sq0atp-{_ANY}{{22,}}",
    "sq0csp-": rf"sq0csp-{_ANY}{{40,}}",
    "EAAA": rf"EAAA{_ANY}{{60}}(?!{_ANY})",
    "EAAC": rf"EAAC{_ALNUM}{{100,}}",
    "EAAM": rf"EAAM{_ALNUM}{{100,}}",
    "SK": rf"SK[0-9a-fA-F]{{32}}(?!{_ALNUM})",
    "shippo_": r"shippo_(?:live|test)_[0-9a-fA-F]{40}",
    "duffel_": r"duffel_(?:live|test)_[A-Za-z0-9_=-]{40,}",
    "EZAK": rf"EZAK{_ALNUM}{{54}}",
    "EZTK": rf"EZTK{_ALNUM}{{54}}",
    "FLWSECK": rf"FLWSECK(?:_TEST)?-{_ALNUM}{{12,}}",
    **{f"shp{kind}_": rf"shp{kind}_[0-9a-fA-F]{{32}}" for kind in ("at", "ca", "pa", "ss")},
    "key-": rf"key-{_HEX}{{32}}(?!{_HEX})",
    "xkeysib-": rf"xkeysib-{_HEX}{{64}}-{_ALNUM}{{16}}",
    "rdme_": r"rdme_[a-z0-9]{60,}",
    "fio-u-": r"fio-u-[A-Za-z0-9_=-]{50,}",
    "ico-": rf"ico-{_ALNUM}{{32}}(?!{_ALNUM})",
    "p8e-": rf"p8e-{_ALNUM}{{32}}(?!{_ALNUM})",
    "API-": r"API-[A-Z0-9]{26}(?![A-Za-z0-9])",
    "A3-": r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}(?![A-Za-z0-9])",
    "ops_eyJ": rf"ops_eyJ{_BASE}{{100,}}",
    "AGE-SECRET-KEY-1": r"AGE-SECRET-KEY-1[A-Z0-9]{50,}",
    "LS0tLS1CRUdJTi": r"LS0tLS1CRUdJTi(?!BDRVJU|BQVUJM)[A-Za-z0-9+/=]{40,}",
    "ZXlK": rf"ZXlK(?=[A-Za-z+/]{{0,59}}[0-9]){_BASE}{{60,}}={{0,2}}",
    "eyJ": rf"eyJ{_ANY}{{8,}}\.eyJ{_ANY}{{8,}}(?:\.{_ANY}*)?",
}
"""What a token begins with, and the whole of it."""
_MIDDLES = {
    "AZDO": (76, re.compile(r"AZDO(?<=[A-Za-z0-9]{76}AZDO)[A-Za-z0-9]{4}(?![A-Za-z0-9])")),
    "JQQJ99": (52, re.compile(r"JQQJ99(?<=[A-Za-z0-9]{52}JQQJ99)[A-Za-z0-9]{26}(?![A-Za-z0-9])")),
    "AzSe": (42, re.compile(r"AzSe(?<=[A-Za-z0-9]{42}AzSe)[A-Za-z0-9]{6}(?![A-Za-z0-9])")),
    "AzFu": (44, re.compile(r"AzFu(?<=[A-Za-z0-9_-]{44}AzFu)[A-Za-z0-9_-]{5}[AQgw]==")),
    "NRAL": (36, re.compile(r"NRAL(?<=[A-Za-z0-9]{36}NRAL)(?![A-Za-z0-9])")),
    "_mmk": (36, re.compile(r"_mmk(?<=[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk)(?![A-Za-z0-9])")),
    "-us": (32, re.compile(r"-us(?<=[0-9a-f]{32}-us)[0-9]{1,2}(?![A-Za-z0-9])")),
}
"""Those known by letters in their middle: how many stand before these, and the rest."""

_AZURE_KEYS = tuple(
    (before, re.compile(rf"{word}(?<={_BASE}{{{before}}}{word}){rest}"))
    for before, word, rest in (
        (76, r"(?:\+A(?:Ba|MC|St)|ACDb|APIM)", rf"{_BASE}{{5}}[AQgw]=="),
        (33, r"(?:\+A(?:Sb|Eh|Rm)|AIoT)", rf"[A-P]{_BASE}{{5}}=(?!=)"),
        (42, r"\+ACR", rf"{_ALNUM}{{6}}(?!{_BASE})"),
    )
)
"""Keys with four letters in their middle that say what they open."""
_AZURE_MARKS = ("+A", "ACDb", "APIM", "AIoT")

_DOTTED: dict[str, str] = {
    "ya29.": rf"ya29\.{_ANY}{{20,}}",
    "1//0": rf"1//0{_ANY}{{30,}}",
    "SG.": rf"SG\.{_ANY}{{16,}}\.{_ANY}{{16,}}",
    "hvs.": rf"hvs\.{_ANY}{{24,}}",
    "hvb.": rf"hvb\.{_ANY}{{24,}}",
    "hvr.": rf"hvr\.{_ANY}{{24,}}",
    "s.": rf"s\.(?=[A-Za-z]{{0,23}}[0-9])(?=[a-z0-9]{{0,23}}[A-Z]){_ALNUM}{{24}}(?![A-Za-z0-9_.(])",
    "dp.": rf"dp\.(?:pt|ct|sa|scim|audit|st(?:\.[a-z0-9_-]{{2,35}})?)\.{_ALNUM}{{40,44}}",
    "dt0c01.": r"dt0c01\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{60,}",
    **{
        f"{kind}.": rf"{kind}\.{_ANY}{{22}}\.{_ALNUM}{{24}}\.{_ALNUM}{{20}}(?!{_ALNUM})"
        for kind in ("pat", "sat")
    },
    "sk.eyJ": rf"sk\.eyJ{_ANY}{{20,}}\.{_ANY}{{16,}}",
    "sl.": rf"sl\.(?:u\.)?{_ANY}{{120,}}",
    "sha256~": rf"sha256~{_ANY}{{43}}(?!{_ANY})",
    "1000.": rf"1000\.{_HEX}{{32}}\.{_HEX}{{32}}(?!{_ALNUM})",
    "VF.": rf"VF\.(?:(?:DM|WS)\.)?[0-9a-fA-F]{{24}}\.{_ALNUM}{{16}}(?!{_ALNUM})",
    "snyk_": rf"snyk_[us]at\.{_HEX}{{8}}\.[A-Za-z0-9_.-]{{20,}}",
    "00D": rf"00D{_ALNUM}{{12}}(?:{_ALNUM}{{3}})?![A-Za-z0-9_.]{{80,}}",
    "ewog": rf"ewog{_ANY}{{8,}}={{0,2}}\.(?:eyJ|ewo){_ANY}{{8,}}={{0,2}}\.{_ANY}{{8,}}",
    "v1.0-": rf"v1\.0-{_HEX}{{24}}-{_HEX}{{100,}}",
}
"""Those whose beginning is cut off from the long stretch of letters."""
_DISCORD = re.compile(
    r"[MNO](?:(?<![A-Za-z0-9_-].)|(?<=\\[nrt].))[A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}"
)
_DISCORD_END = re.compile(r"\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27}")
_TELEGRAM = re.compile(
    r"[0-9](?:(?<![A-Za-z0-9].)|(?<=\\[nrt].)|(?<=bot.))[0-9]{7,10}:AA[A-Za-z0-9_-]{30,48}(?![A-Za-z0-9_-])"
)
_FACEBOOK = re.compile(
    r"[0-9](?:(?<![A-Za-z0-9].)|(?<=\\[nrt].))[0-9]{14,15}(?:\||%7[Cc])(?=[A-Za-z_-]{0,26}[0-9])[A-Za-z0-9_-]{27,40}"
    r"(?![A-Za-z0-9_-])"
)
_AZURE_REFRESH = re.compile(
    rf"[01](?:(?<![A-Za-z0-9].)|(?<=\\[nrt].))\.A{_ANY}{{50,}}(?:\.\d)?\.Ag{_ANY}{{200,}}(?:\.A{_ANY}{{200,}})?"
)
_AZURE = re.compile(r"(?<=Q~)[A-Za-z0-9_~.-]{31,34}")
_TERRAFORM = re.compile(rf"{_WORD_EDGE}{_ALNUM}{{14}}\.atlasv1\.[A-Za-z0-9_=-]{{40,}}")
_AIRTABLE = re.compile(rf"pat(?:(?<![A-Za-z0-9]pat)|(?<=\\[nrt]pat)){_ALNUM}{{14}}\.{_HEX}{{64}}")

_LONG = re.compile(r"(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{15,}")
"""Stretches long enough to be a token that begins with its own name."""
_SMALL = "abcdefghijklmnopqrstuvwxyz_-"
"""Letters of which no token consists alone."""
_ESCAPED = frozenset("nrt")
"""What may be the end of an escaped line end rather than the first letter of a stretch."""


@cache
def _shape(word: str) -> re.Pattern[str]:
    """The shape that begins with a word, once that was seen; what stands before it is asked afterwards."""
    first = re.escape(word)
    rest = _ALL_SHAPES[word].removeprefix(word.replace(".", r"\."))
    own = "A-Za-z0-9_-" if word == "eyJ" else "A-Za-z0-9"
    return re.compile(rf"{first}(?:(?<![{own}]{first})|(?<=\\[nrt]{first})){rest}")


_ALL_SHAPES = _SHAPES | _DOTTED
_OTHER_LETTERS = re.compile(r"\[[^]]*[+/=.]")
_BEGINNINGS = tuple(word for word, shape in _SHAPES.items() if not _OTHER_LETTERS.search(shape))
_PARTED = frozenset(word for word in _BEGINNINGS if r"\." in _SHAPES[word])
"""Those that go on beyond a stretch of letters."""
_CUT_OFF = tuple(word for word in (*_SHAPES, *_DOTTED) if word not in _BEGINNINGS)
"""Those whose beginning may stand outside of every long stretch of letters."""
_AWS = ("AKIA", "ASIA", "ABIA", "ACCA")
_BESIDE = 240
"""Letters around the id of an AWS key in which its secret is looked for."""
_AWS_SECRET = re.compile(
    r"(?:(?<![A-Za-z0-9/+=])|(?<=\\[nrt]))(?=[A-Za-z/+]{0,39}[0-9])(?=[a-z0-9/+]{0,39}[A-Z])(?=[A-Z0-9/+]{0,39}[a-z])"
    r"[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])"
)


def token_spans(text: str) -> Iterator[Span]:
    """Where tokens of known shapes stand."""
    found = {word for word in set(_LONG.findall(text)) if word.strip(_SMALL)}
    if not found:
        return
    long = "\n".join([*found, *[word[1:] for word in found if word[0] in _ESCAPED]])
    for word in _BEGINNINGS:
        if word in long and (word in _PARTED or _shape(word).search(long)):
            yield from spans(_shape(word), text)
    for word in _CUT_OFF:
        if word in text:
            yield from spans(_shape(word), text)
    if any(word in long for word in _AWS):
        yield from _beside_ids(text)
    for word, (before, pattern) in _MIDDLES.items():
        if word in long:
            yield from ((start - before, end) for start, end in spans(pattern, text))
    if any(mark in text for mark in _AZURE_MARKS):
        for before, pattern in _AZURE_KEYS:
            yield from ((start - before, end) for start, end in spans(pattern, text))
    yield from _in_parts(text)


def _in_parts(text: str) -> Iterator[Span]:
    """Those that are known by their parts rather than by a beginning."""
    if _DISCORD_END.search(text):
        yield from spans(_DISCORD, text)
    if ":AA" in text:
        yield from spans(_TELEGRAM, text)
    if "|" in text or "%7" in text:
        yield from spans(_FACEBOOK, text)
    if "Q~" in text:
        yield from ((found.start() - 6, found.end()) for found in _AZURE.finditer(text) if found.start() >= 6)
    if ".Ag" in text:
        yield from spans(_AZURE_REFRESH, text)
    if ".atlasv1." in text:
        yield from spans(_TERRAFORM, text)
    yield from spans(_AIRTABLE, text)


def spans(pattern: re.Pattern[str], text: str, group: int | str = 0) -> Iterator[Span]:
    """Where a pattern, or one of its groups, is found."""
    return (found.span(group) for found in pattern.finditer(text))


def _beside_ids(text: str) -> Iterator[Span]:
    for kind in _AWS:
        for start, end in spans(_shape(kind), text):
            for low, high in ((max(0, start - _BESIDE), start), (end, end + _BESIDE)):
                yield from (found.span() for found in _AWS_SECRET.finditer(text, low, high))
