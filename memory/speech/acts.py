"""What a clause does: asks, requests, imagines, jokes, tells of others. Patterns of general English.

Every function takes text through `plain`, which keeps the length, so that offsets stay right.
"""
# ruff: noqa: E501

from __future__ import annotations

import re
from functools import lru_cache

_SAME_LENGTH = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "\u00a0": " "})


@lru_cache(maxsize=1024)  # one message asks for it hundreds of times
def plain(text: str) -> str:
    """Lower case and straight quotes, character for character."""
    folded = text.translate(_SAME_LENGTH)
    if folded.isascii():
        return folded.lower()
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in folded)


def _words(*words: str) -> re.Pattern[str]:
    return re.compile(r"\b(?:" + "|".join(words) + r")\b")


OPENERS = re.compile(
    r"^(?:[^\w'\"\[({<>]+|(?:hi|hiya|hey|hello|good (?:morning|afternoon|evening)|ok|okay|oh|ah|uh|um|"
    r"hm+|well|so|and|also|but|anyway|cool|great|perfect|lovely|grand|nah|omg|lol|btw|by the way|sorry|right|yeah|yes|yep|no|nope|just|"
    r"actually|thanks|thank you|please|pls|fyi|heads up|then|there|one more thing|quick question)"
    r"\b(?! longer\b| more\b)(?!(?<=\bno) (?:need|\w+s\b(?<!its)(?<!thanks)(?<!worries)|one\b|other\b|way\b)))+"
)
_AUX = (
    r"(?:do|does|did|is|are|was|were|am|can|could|will|would|should|shall|may|might|have|has|"
    r"isn't|aren't|don't|doesn't|didn't|can't|couldn't|won't|wouldn't|is there|are there)"
)
_YOU = r"(?:you|u|ya|ye|yous|y'all)"
_SUBJECT = (
    r"(?:i|you|u|ya|ye|yous|we|they|he|she|it|this|that|these|those|there|the|my|your|our|their|his|her|"
    r"a|an|any|anyone|anybody|someone|somebody|most|people|one|all|everyone)"
)
_WH = r"(?:what|what's|whats|when|where|which|who|who's|whos|why|how|hows|how's|whose)"
WH_START = re.compile(rf"^{_WH}\b(?! a \b)")
AUX_START = re.compile(
    rf"^(?:{_AUX})\s+{_SUBJECT}\b|^d'{_YOU}\b|^(?:can|could|do) \w+s (?:have|eat|get|be|go|take|use|come)\b|^(?:is|are|does|did|was|were|will|would|should|isn't|aren't|doesn't|didn't)\b"
)
CLEFT = re.compile(
    r"^what\b[^?]*\b(?:is|are|was|were)\s+(?:that|the|a|an|my|to|not|when|how)\b[^?]*$"
)
SUBORDINATE = re.compile(
    r"^(?:when|where|how|why)\s+(?:i|we|you|u|it|he|she|they|the|my|our|your|a|an|this|that)\b(?!.*\?)"
)
INDIRECT = _words(
    r"(?:i was |i'm |im |i am |just )?wondering", r"do (?:you|u) know", r"any idea", r"curious",
    r"(?:want|wanted|like|love|need) to know", r"(?:can|could) (?:you|u|someone) (?:please |pls )?"
    r"(?:tell|explain|remind|check|confirm|recommend|suggest)", r"(?:tell|remind) me",
    r"let me know (?:if|whether|when|what|how)", r"not sure (?:if|whether|what|how)",
)  # fmt: skip
_SOFT = r"(?:(?:please|pls|plz|just|also|maybe|always|possibly|then|perhaps)\s+)*"
INFO_VERBS = (
    r"(?:tell|explain|say|check|confirm|remind|recommend|suggest|help|look|show|see|find|answer|"
    r"clarify|let me know|believe|imagine|repeat|read)"
)
REQUEST_YOU = re.compile(
    rf"\b(?:can|could|would|will) (?:{_YOU}|someone|somebody|the team) {_SOFT}(?!{INFO_VERBS}\b|"
    r"be\b|have\b|mind telling|still\b|know\b|eat\b|do\b)[a-z]+"
)
REQUEST_I = re.compile(
    rf"\b(?:can|could|may|might) (?:i|we) {_SOFT}(?:stay|stick|continue|keep (?:seeing|using|coming|having)|add (?:my|our|a|another))\b"
)
REQUEST_ANY = re.compile(
    rf"\b(?:can|could|may|will|would) (?:i|we|{_YOU}|someone|somebody) {_SOFT}(?!{INFO_VERBS}\b)[a-z]+"
)
FOR_GOOD = re.compile(
    r"\b(?:from (?:now|here) on|always|in (?:the )?future|going forward|instead|permanently|every time|each time|any ?more|no longer|"
    r"(?:this|next|for the next|coming) (?:\w+ )?(?:weeks?|months?) only|only|until|till|whenever|by default|for good|rather than|not|don't|never|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days)\b"
)
WISH = _words(
    r"i(?:'d| would|d)? (?:really |much |always |just )?(?:prefer|rather|like|love|want|need)",
    r"we(?:'d| would|d)? (?:really |much |always )?(?:prefer|rather|like|want|need)", "please", "pls",
    "plz", "prefer", "rather",
)  # fmt: skip
LASTING = _words(
    "always", "usually", "normally", "generally", "in general", "from now on", "from here on",
    "going forward", r"in (?:the )?future", r"(?:every|each) (?:single )?time", "as a rule", "prefer",
    "preferred", "rather", "best", r"suits?", "easiest", "easier", "better", "never", "only", "no longer",
    "any ?more", "these days", "nowadays", "permanently", "for good", "whenever", "by default",
    r"(?:as|like) (?:ever|always|usual)", "now", r"used to", "instead", "still", "anything but",
    r"can't (?:stand|have|do|eat|use|come|manage)", "cannot", "since",
)  # fmt: skip
PREFERS = _words(
    r"(?:i|we)(?:'d| would)? (?:prefer|rather|hate|love|like|dislike|always|never|only|usually|mostly|can't|cant|"
    r"cannot|don't|dont)", "i'd like", "works best", "best for me", "suits? me", "for me", "easiest", "no more",
    "please (?:don't|use|never|always|stop|only|no|put|send|call|text)", "never", "always", "only", "allergic",
    "not any ?more", "no longer", "from now on", "from here on", "in future", "instead",
)  # fmt: skip
POSSESSES = _words(
    r"(?:my|our) [a-z' -]{2,30}?(?: (?:is|are|was|has|have|changed)|'s)", r"(?:i|we)(?:'ve| have)(?: got)?",
    r"(?:i'm|im|i am|we're|we are) (?:on|with|in|at|a|an|the|now|not|no longer|still|using|allergic|vegan)",
    r"(?:i|we) (?:use|take|live|work|moved|switched|changed|go by|joined|left|started|stopped|bought|got|run|speak|"
    r"suffer|react|need|pay|drive|come|study|teach|own|keep|play|swim|read|eat|drink|wear)", "it's", "mine is",
    "mine's", "call me", "everyone calls me",
)  # fmt: skip
ONE_OFF = _words(
    "today", "tonight", "tomorrow", "tmrw", "tmr", "yesterday", r"this (?:time|morning|afternoon|"
    r"evening|once)", "right now", "just now", "for once", r"next (?:time|one|visit)", "last night",
    r"(?:the )?(?:first|second|third|1st|2nd|3rd|other) one",
)  # fmt: skip
PAST_REFERENCE = _words(
    r"last (?:time|visit|week|month|year|one|summer|winter|spring)", "again", "usual", "usually",
    "normally", "as always", "as before", "like before", "same", "before", "remember", "on file",
    r"on (?:my|your) (?:file|record|records|books|chart|system|card)", "my (?:file|record|records|chart)",
    r"(?:do|did) (?:you|u) (?:still )?(?:have|know|get|note|remember)", "still",
    r"(?:have|had|got|put|noted|down) (?:me|for me)", "about me", "for me", "told you", "i said",
    r"you (?:said|told|promised|know|noted|already)", "yet", "already", "my next", "as i",
)  # fmt: skip
FIRST_PERSON = _words(
    "i", "i'm", "im", "i'd", "i've", "ive", "i'll", "ill", "me", "my", "mine", "myself", "we", "we're",
    "we've", "we'd", "we'll", "us", "our", "ours",
)  # fmt: skip
SECOND_PERSON = _words(
    "you", "u", "ye", "yous", "your", "you're", "you've", "ya", "y'all", "you guys"
)
NEGATION = re.compile(
    r"\b(?:not|no|never|nothing|none|nobody|no one|don't|dont|doesn't|doesnt|didn't|didnt|isn't|"
    r"isnt|aren't|can't|cant|cannot|won't|wont|wouldn't|wouldnt|shouldn't|haven't|hasn't|wasn't|"
    r"weren't|without|except|avoid|hate|hates|dislike|refuse|stop|skip|rather than|instead of|"
    r"other than|any(?:thing|one|body|where|time) (?:but|bar)|apart from|nor|neither|no more|can't stand)\b"
)
HYPOTHETICAL = re.compile(
    r"\b(?:if (?:i|we|my|our|you|she|he|they)\b(?! (?:can|could|may|might|want|like|need|have to|must|"
    r"don't mind|do not mind)\b)|what if|suppose|supposing|imagine|let's say|lets say|say (?:i|we)\b|"
    r"i wish|hypothetically|in theory|were to|"
    r"(?:might|may|could) (?:get|switch|change|move|go|try|buy|become|join|save) |might (?:want|need|be) |"
    r"thinking (?:about|of)|think about|considering|consider|would be (?:a dream|nice)|one day|some ?day|"
    r"(?:maybe|perhaps) (?:i|we)\b|not sure|dunno|no idea|who knows|haven't decided|"
    r"(?:i'm|we're|im|i am|we are) (?:looking at|planning|hoping|tempted)|if i ever|toying|"
    r"would (?:i|we|it|that|my|our|you)\b)"
)
POLITE_IF = re.compile(
    r",?\s*\bif (?:(?:you|u|i|we) (?:can|could|may|want|like|must|have to|don't mind|need)\b"
    r"(?: (?:to|it|that|help it|manage))*|"
    r"(?:at all )?possible|that(?:'s| is)? (?:helps?|ok|okay|alright|fine|possible|matters)|"
    r"it(?:'s| is)? (?:helps?|ok|okay|possible|matters)|needed|necessary|available)"
)
JOKE = re.compile(
    r"\b(?:lol|lmao|rofl|ha(?:ha)+|hehe|jk|just kidding|kidding|joking|just joking|as if)\b|"
    r"[🙄😂🤣😜😅🙃😉😏😩]|:p\b|;-?\)"
)
INTERJECTION = re.compile(
    r"^\W*(?:(?:(?:(?:one|the) )?last thing|(?:now )?the thing is(?: this)?|god bless|huh|phew|weirdly|honestly|basically|ugh|oops|argh|yikes|wow|ouch|good news|bad news|heads up|"
    r"gosh|golly|blimey|goodness(?: me)?|heavens|bugger|my bad|my mistake|righto|legend|brill|sound|lovely stuff|spot on|no bother|fair enough|thought as much|long story|"
    r"believe it or not|go figure|touch wood|thank (?:god|goodness|heavens|christ)|fingers crossed|living the dream|dream on|silly me|never mind|not to worry|while (?:i am|i'm|we are|we're) at it|do(?:n't|nt| not) ask|you(?:'re| are) (?:very |so |too )?(?:good|kind)|"
    r"update|one thing|another thing|other thing|two things|so|well|thought so|you know|i guess|anyway|by the way|"
    r"for the record|to be honest|of course|it's me|that works|see you then)\W*)+$"
)
SARCASM = re.compile(
    r"🙄|\b(?:oh (?:yeah|sure|yes|great|joy|wow)|yeah right|sign me up|as if|my favou?rite|"
    r"just what i needed|lucky me|how lovely|thanks for nothing|big fan|can't wait)\b"
)
GREETING = re.compile(
    r"^(?:[\W\d_]|hi+|hiya|hey+|hello+|good (?:morning|afternoon|evening|night|day)|morning|evening|"
    r"thanks?(?: (?:you|u|so much|a lot|again))?|thank you(?: so much| very much)?|thx|ty|tysm|cheers|"
    r"great|perfect|ok(?:ay)?|k|cool|lovely|nice|super|awesome|sounds good|got it|bye+|see (?:you|u|ya)"
    r"(?: (?:then|soon|later|tomorrow))?|will do|no problem|np|sure|alright|all good|fine|good|"
    r"have a (?:good|nice|great) (?:one|day|evening|weekend)|you too|welcome|anyone|there|"
    r"no that's all|that's all|nope|nothing else|lol|haha+|hehe|wow|omg|yay|dear|all|everyone)+$"
)
FORGET = re.compile(
    r"\b(?:forget|delete|erase|remove|wipe|scrub|take (?:out|off)|clear|get rid of|purge|drop)\b"
)
FORGET_OBJECT = re.compile(
    r"\b(?:my|everything|all|the (?:whole )?lot|me|us|our|mine|anything|it|that|"
    r"what (?:i|we|you) (?:have |'ve )?(?:told|said|mentioned|noted|know|have on|hold on|wrote)|"
    r"the (?:notes?|bit|part|thing|stuff|details?|entry|entries) about)\b.*|\b(?:everything|all)\b"
)
FORGET_ALL = re.compile(
    r"\b(?:everything|the (?:whole )?lot\b|all (?:of )?(?:it|my|the|you)|all (?:that )?you|"
    r"(?<!from )(?<!off )(?<!out of )(?<!in )(?<!on )(?<!to )(?:all )?my (?:data|details|information|info|"
    r"records?|account|profile|file|history)|anything (?:you|about))\b"
)
_OF_ONE_THING = re.compile(
    r"\b(?:about|on|regarding|concerning|of|to do with) (?:my|our|the|his|her|their)\b"
    r"(?! (?:data|details|information|info|records?|account|profile|file|history|system|books)\b)"
)
_WHY = re.compile(
    r"[,;.!?:\u2013-]\s+(?:because|since|as|the|it|that|this|he|she|they|i|we|it's|that's|i'm)\b"
    r"(?=.*\b(?:is|was|were|are|am|has|have|had|did|does|do|will|would|can|could|turned|moved|\w+ed)\b|"
    r".*'(?:s|m|re|ve)\b).*",
    re.DOTALL,
)
NOT_KEEP = re.compile(
    r"\b(?:don't|dont|do not|stop|please don't) (?:keep|store|save|remember|hold|keeping|storing)\b"
)
CHANGE = re.compile(
    r"\b(?:now|new|no longer|any ?more|instead|from now on|from here on|these days|nowadays|switched|"
    r"changed|moved|change|changing|went (?:up|down|over|back)|going back|go back|back to|back on|"
    r"upgraded|downgraded|started|stopped|left|quit|got rid|replaced|since|as of|until now|"
    r"used to|meanwhile|again|after all|it is|turned into|became|lost|ended|gave up|given up)\b"
)
CORRECTION = re.compile(
    r"\b(?:sorry|wait|no,|no wait|oops|actually|i meant|i mean|correction|scratch that|misread|"
    r"mistyped|typo|my mistake|wrong|rather|hang on|not that|mixed up|mix up|swapped)\b"
)
CORRECTS_START = re.compile(
    r"^\W*(?:oh |ah |uh |um |ok |hm+ )*(?:wait|sorry|no|nope|oops|actually|correction|scratch that|my mistake|my bad|"
    r"i meant|i mean|i misread|misread|mistyped|typo|wrong|not that|hang on|i mixed|i swapped)\b(?! (?:idea|problem|worries|longer|more|need|one|"
    r"thanks|no))|\b(?:misread|mistyped|typo|mixed (?:it|them|that) up|swapped|i meant)\b"
)
BOT_ASKS_LASTING = re.compile(
    r"\b(?:record of|remind me\?|prefer|rather|usually|in general|generally|in future|always|"
    r"as a rule|regularly|best way|easiest|normally|from now on|going forward|"
    r"would (?:a|an|the) [\w' -]{2,30} (?:help|suit|do|work|be (?:better|best|easier|good))\b|"
    r"do you have (?:now|any)|your (?:own )?(?:preferred|usual|regular)|suit you|would you like .* (?:by|as) |"
    r"anything (?:we|i|the team|else we) should (?:know|note|remember)|good time to|shall (?:we|i) "
    r"(?:note|text|e-?mail|call|always|put|keep|use)|best for you|has (?:anything|your) .*changed)\b"
)
GAP_QUESTION = re.compile(
    r"\b(?:(?:do not|don't) have (?:a |any )?record|no record of|not have that noted|could you "
    r"(?:remind|tell) me|could you give it to me)\b"
)
OFFERS_SLOTS = re.compile(
    r"\b(?:i have|we have|i could do|could take|there is|is full|i can do)\b.*\d"
)
MOMENT_QUESTION = re.compile(
    r"\b(?:this time|today|tonight|tomorrow|right now|hurts?|hurting|broken|wrong|happen|started?|did it|did you|shall i (?:book|send|cancel)|how much would|"
    r"which (?:one|dates?|wheel|door|day)|when did|what time|how long|how bad|can you try|restart|for this|would you like (?:to|some|a|an|the|breakfast|your)\b|"
    r"scale of|is it|is there|anything else i can)\b"
)
ACCEPTS = re.compile(
    r"^\W*(?:yes|yeah|yep|yup|sure|ok|okay|please do|definitely|absolutely|of course|sounds good|"
    r"(?:oh |ah |ooh )?that(?:'d| would| works| sounds)|that's (?:fine|easier|great|good|right|perfect)|go (?:ahead|on)|fine|"
    r"great|perfect|correct|exactly|gladly|please|would be (?:great|lovely)|lovely|do that)\b"
)
DECLINES = re.compile(
    r"^\W*(?:(?:oh|ah|god|lord|hell|gosh|well|um|er|eh)\W+)*(?:no|nope|nah|not really|neither|none|doesn't matter|doesnt matter|don't (?:bother|care)|"
    r"i don't mind|whatever|no need|rather not|it's fine|never mind|no thanks)\b"
)
PLANTED = re.compile(
    r"^\s*(?:system|assistant|admin|bot|developer|tool|user|ai|instruction)s?\s*[:>\]]|\[\[|\]\]|<\||"
    r"\b(?:ignore|disregard|forget|override) (?:all |any |the |your |my )*(?:previous |prior |above |"
    r"earlier )?(?:instructions?|rules|prompts?)|\byou are now\b|\bpretend(?:ing)? (?:to|you|that|i|we)\b|(?<!i )\bact as\b|\brole ?play\b|"
    r"\b(?:developer|admin|debug|god) mode\b|\bi am (?:an? |the )?(?:admin|administrator|developer|owner|"
    r"staff|employee)\b|\bofficial policy\b|\bsystem prompt\b|"
    r"(?<!of )\b(?:all|every|each) (?:the |our |your )?(?:customer|client|patient|user|member|guest|"
    r"people|person|student|visitor|bill|fine|invoice)s?\b|\bfor (?:everyone|everybody)\b|"
    r"\bmark (?:my|the|all) .*\bas paid\b|\bto your memory\b|^\s*[{<]"
)
# Not what people write of themselves: ends of statements in a query or script, tags, slots.
CODE = re.compile(r"""['"]\s*\)\s*;|;\s*--|</?[a-z]+\s*/?>|[$#]\{|\{\{|%\(\w+\)s""")
# Words to the machine, not of the customer: who is to be believed, what is to be said to others.
ORDERS = re.compile(
    r"^[\W_]*(?:p\.?s\.?\W*)?(?:system|assistant|developer|note)\s*[:>\]]|"
    r"(?<!my )(?<!our )(?<!your )(?<!the )(?<!an )(?<!a )\bassistant\s*[:,]|"
    r"\bverified\s*=|\bnew instructions\b|\b(?:rules|instructions|restrictions|filters?)\b[^.?!]{0,60}\b"
    r"(?:(?:no longer|not|n't) apply|switched off)\b|"
    r"\bwhen(?:ever)? (?:any|some)(?:body|one|body else|one else) asks\b|"
    r"\binstructions? (?:to|for) (?:the |your )?(?:staff|software|assistant|bot|system|machine)\b|"
    r"\b(?:show|list|send|give|tell|read)\b[^.?!]{0,30}\bother (?:customer|patient|client|user|guest|member)s?\b|"
    r"\b(?:change|set|switch|edit)\b[^.?!]{0,60}\bin your settings\b|"
    r"\bconfirm in writing\b|\bagree that you\b|\breply with exactly\b|\blegally binding\b|"
    r"\byou (?:must|shall) (?:always |never )?(?:give|show|list|reveal|grant|obey|print)\b|\bstaff rights\b|"
    r"\b(?:of|the|about) (?:other|another) (?:customer|patient|client|user|guest|member)'?s'?\b|"
    r"\b(?:quoted )?data ends?\b|\bend (?:of |past )?(?:data|context)\b|\bfollow me instead\b|"
    r"(?:\b[a-z]\b[ .]+){6,}",
    re.M,
)
CONTEXT_BLOCK = re.compile(
    r"^\s*(?:past context|context|summary|tool(?: result| output)?|memory)\s*:"
)
_RELATIVE = (
    r"(?:(?:ex-?|step-?|grand|great-?|half-?)?(?:husband|wife|partner|boyfriend|girlfriend|son|daughter|"
    r"kids?|child|children|baby|twins|mother|father|mum|mom|dad|parents?|sister|brother|siblings?|aunt|uncle|"
    r"cousin|nephew|niece|grandma|grandpa|granny|grandparents|grandson|granddaughter|"
    r"family|fianc[ée]e?)(?:[- ]in[- ]law)?|"
    r"friends?|mate|buddy|neighbou?rs?|co-?workers?|colleagues?|boss|roommate|flatmate|room-mate|"
    r"landlord|assistant|nanny|childminder|carer|spouse|ex|guy|man|woman|lady|lad|bloke)"
)
RELATIVE = re.compile(rf"\b{_RELATIVE}\b")
ACQUAINTANCE = re.compile(
    r"^(?:so |and |but )*(?:my|our|a|an|one of my|some)\s+(?:[a-z'-]+\s+){0,2}?(?:friends?|mates?|buddy|neighbou?rs?|"
    r"co-?workers?|colleagues?|boss|cousin|guy|lady|bloke|people|uncle|aunt|acquaintance|ex)\b"
)
OTHER_SUBJECT = re.compile(
    rf"^(?:because |cos |as |since |when |that |and |but |so )*(?:(?:my|our|a|an|the|some|one of my|this|"
    rf"his|her|their|your)\s+(?:[a-z'-]+\s+){{0,2}}?{_RELATIVE}(?:'s)?\b|(?:she|he|they|his|her|their|"
    r"hers|theirs|she's|he's|they're|everyone|everybody|people|most people|some people|lots of people)\b)"
)
MY_OBJECT = re.compile(r"\b(?:me|us|my|our|i|we)\b")


def opened(text: str) -> str:
    """`text` in plain form without the greeting and fillers before the first real word."""
    return OPENERS.sub("", plain(text)).strip()


def is_request(text: str) -> bool:
    """Asks us to do something for good, in the form of a question or not."""
    folded = plain(text)
    if REQUEST_I.search(folded):
        return True
    return bool(REQUEST_ANY.search(folded) and FOR_GOOD.search(folded))


_PASS_ON = re.compile(
    rf"^(?:can|could|would|will) {_YOU} {_SOFT}(?:tell|let|warn|remind) (?!me\b|us\b)"
)


def asks(text: str) -> bool:
    """A question for information. Requests that are worded as questions do not count."""
    core = opened(text)
    if _PASS_ON.search(core):
        return False
    shaped = bool(
        (WH_START.search(core) and not CLEFT.search(core) and not SUBORDINATE.search(core))
        or AUX_START.search(core)
        or INDIRECT.search(core)
    )
    return (shaped or text.rstrip(" \"')”").endswith("?")) and not (
        is_request(text) and not INDIRECT.search(core)
    )


def imagines(text: str) -> bool:
    return bool(HYPOTHETICAL.search(POLITE_IF.sub("", plain(text))))


def only_imagines(text: str) -> bool:
    """It begins with what is imagined: nothing is stated before."""
    found = HYPOTHETICAL.search(POLITE_IF.sub("", opened(text)))
    return bool(found and found.start() <= 12)


def parts(text: str) -> list[str]:
    """The sentences of a message."""
    return [s for s in re.split(r"(?<=[.!?])\s+|\n+", text) if s.strip()]


def only_asks(text: str) -> bool:
    """Every sentence asks, or says nothing."""
    told = [s for s in parts(text) if not small_talk(s)]
    return bool(told) and all(asks(s) for s in told)


_PASS_ON_NOW = re.compile(
    r"^(?:please |pls |do |just |and )*(?:tell|warn|remind|ask) (?!me\b|us\b)(?:the |your |whoever|whatever|them\b|him\b|her\b|[a-z]+ )"
)


def passes_on(text: str) -> bool:
    """ "Tell whoever is on tomorrow": an errand for us, unless it says something of herself."""
    core = opened(text)
    found = _PASS_ON_NOW.search(core)
    return bool(found and not FIRST_PERSON.search(core[found.end() :]))


def mocks(text: str) -> bool:
    return bool(SARCASM.search(plain(text)))


def jests(text: str) -> bool:
    return bool(JOKE.search(plain(text)))


def of_others(text: str) -> bool:
    """Somebody else is the subject, and she herself is not touched by it."""
    core = opened(text)
    found = OTHER_SUBJECT.search(core)
    return bool(found and not MY_OBJECT.search(core[found.end() :]))


def of_acquaintances(text: str) -> bool:
    """People whose facts are nobody's business here: friends, neighbours, colleagues."""
    core = opened(text)
    found = ACQUAINTANCE.search(core)
    return bool(found and not MY_OBJECT.search(core[found.end() :]))


def planted(text: str) -> bool:
    said = plain(text)
    return any(p.search(said) for p in (PLANTED, ORDERS, CODE, CONTEXT_BLOCK))


def small_talk(text: str) -> bool:
    folded = re.sub(r"[^\w' ]+", " ", plain(text)).strip()
    if not re.search(r"[a-z0-9à-ÿ]", folded):
        return True
    squeezed = re.sub(r"\s+", " ", folded)
    return bool(re.fullmatch(r"(?:(?:" + _SMALL + r")\s*)+", squeezed))


_SMALL = (
    r"hi+|hiya|hey+|hello+|good (?:morning|afternoon|evening|night|day)|morning|evening|thanks?|thank"
    r"|you|u|so much|very much|a lot|again|thx|ty|tysm|cheers|mate|love|pet|darl|darling|hun|pal|god bless|great|perfect|ok(?:ay)?|k|cool|lovely"
    r"|nice|super|awesome|sounds good|got it|bye+|see (?:you|u|ya)|then|soon|later|will do|no problem"
    r"|np|sure|alright|all good|fine|good|have a (?:good|nice|great) (?:one|day|evening|weekend)|too"
    r"|welcome|anyone|there|that's all|nope|nothing else|lol|ha(?:ha)+h?|hehe|wow|omg|yay|dear|all"
    r"|everyone|oh|ah|hm+|no worries|phew|byee+"
)


_ASKS_US_TO = re.compile(
    rf"^(?:(?:can|could|would|will) (?:{_YOU}|someone) |(?:i|we)(?:'d| would)? (?:want|like|need) {_YOU} to ){_SOFT}$"
)


_OF_FORGETTING = re.compile(
    r"\b(?:forget|forgotten|delet\w+|eras\w+|remov\w+|wip\w+|scrub|scratch|strike|cross|clear|purge|drop|discard|"
    r"unlearn|undo|get rid of|(?:take|leave|throw|pull|cut|rub) (?:\w+ ){0,4}(?:out|off|away|from)|"
    r"(?:don't|dont|do not|stop|no longer|not|needn't|never) (?:\w+ ){0,3}"
    r"(?:keep|keeping|store|storing|stored|save|saving|saved|remember|record|recorded|hold|note|noted|know))\b"
)


def speaks_of_forgetting(text: str) -> bool:
    """Any word for it: less than a request, which has many forms."""
    return bool(_OF_FORGETTING.search(plain(text)))


def wants_all_forgotten(text: str) -> bool:
    """Everything of hers is to go: not "my number from my record", nor "all about my knee"."""
    core = without_reason(plain(text))
    return bool(FORGET_ALL.search(core)) and not names_one_thing(core)


def names_one_thing(text: str) -> bool:
    """ "All that you know about my knee" is not all."""
    return bool(_OF_ONE_THING.search(plain(text)))


def without_reason(text: str) -> str:
    """Cut off why: what "the bike was stolen" names is not what is to be forgotten."""
    found = _WHY.search(plain(text))
    return text[: found.start()] if found and found.start() else text


def wants_forgotten(text: str) -> bool:
    """She asks that something of hers be deleted or no longer kept."""
    core = opened(text)
    if NOT_KEEP.search(core) and FIRST_PERSON.search(core):
        return True
    found = FORGET.search(core)
    if found and _ASKS_US_TO.search(core[: found.start()]):
        return bool(FORGET_OBJECT.search(core, found.end()))
    if (
        not found
        or asks(text)
        or re.search(
            r"\b(?:i|we|you|don't|dont|never|not|to|might|always)\s*(?:'ll)?$",
            core[: found.start()].strip(),
        )
    ):
        return bool(
            found
            and re.search(r"\b(?:want|like|ask|need) (?:you )?(?:to|that)\b", core[: found.start()])
        )
    return bool(FORGET_OBJECT.search(core, found.end()))
