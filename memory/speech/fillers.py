"""Sentences of staff that say nothing by themselves: greetings, names, thanks, waiting, promises."""

# ruff: noqa: E501

from __future__ import annotations

import re

_HELLO = (
    r"(?:(?:hi|hiya|hello|hey|dear|good \w+|morning|afternoon|evening|sure|right|ok(?:ay)?)\b"
    r"[^.?\d]{,25}[,!] )?"
)
_FILLER = re.compile(
    r"^(?:(?:hi|hiya|hello|hey|dear|welcome|(?:good )?(?:morning|afternoon|evening)|good day)\b"
    r"[^.?]{0,40}"
    r"|(?:[\w.'’-]+,? ){0,2}[\w.'’-]+ (?:here|speaking)(?:$|[,!]| from\b| and\b| again\b| at\b)"
    r"[^.?]{0,40}"
    r"|(?:this is|my name is|i'?m) [\w.]+(?: from [^.?]{1,30})?"
    r"|(?:ok(?:ay)?|sure|great|perfect|thanks?|thank you|no (?:problem|worries)|of course"
    r"|sorry|right|got it|alright|all right|you'?re (?:very )?welcome|my pleasure|certainly"
    r"|absolutely|understood|too easy|fingers crossed|drive safely|safe travels)\b[^.?]{0,30}"
    r"|(?:thanks|thank you|sorry) for [^.?]{0,40}"
    r"|(?:please )?(?:one|just a|a) (?:moment|second|sec|minute)\b(?:$|,| please\b| while\b).*"
    r"|.*\b(?:give me (?:a|an|two|three|five|ten|some) (?:sec|second|moment|min|minute|bit)s?|give me a|bear with|hold on(?: a| one| please|,|$)|let me (?:just )?(?:check|look"
    r"|see|ask|pull|find|get)|hang on|leave (?:it|that|this) with (?:me|us))\b.*"
    r"|(?:take your time|have a|enjoy|take care|see you|talk soon|best|regards|get well"
    r"|hope (?:that|this) helps)\b.*"
    r"|(?:that explains|good to (?:know|hear)|glad|happy to).*"
    r"|that(?:'s| is) (?:exactly |just )?(?:such|what|why|it|the one|right|fine|great)\b[^.?]{0,40}"
    r"|i(?:'m| am) (?:just |still |now )?(?:looking|checking|asking|trying|getting|with)\b[^\d]*"
    # who speaks, and that somebody does: "you're speaking with …", "I've picked up your chat"
    rf"|{_HELLO}(?:you(?:'re| are) (?:speaking|talking|chatting) (?:with|to)"
    r"|(?:this is|my name is|i'?m) (?-i:[A-Z])[\w-]+(?: (?:from|at|in|on|with|and)\b|$))[^.?\d]{0,60}"
    r"|[\w-]+ (?:from|in|at|on) (?:the )?[\w ]{2,25} (?:team|desk|department|shift|office)"
    r"|welcome to (?:the|our) (?:chat|team|support)\b[^.?\d]{0,60}"
    rf"|{_HELLO}i(?:'ve| have) (?:just )?(?:(?:picked up|taken over|read|read through)"
    r" (?:your|this|the) (?:chat|messages?|requests?|tickets?|case)"
    r"|(?:your|the) [\w ]{1,30} (?:in front of me|open here|up here))[^.?\d]{0,30}"
    r"|(?:let me|i(?:'m| am)(?: going to)?|i) (?:transfer|hand|pass|put|connect)(?:r?ing|t?ing)? you"
    r" (?:over|through|on|to|with)\b[^.?\d]*"
    # waiting, and that it is being looked at
    r"|(?:please |just |then |now )*try (?:it |that |this )?(?:once )?(?:more|again|now)(?: now)?"
    r"(?:,? in (?:about )?[\w ]{1,20})?(?:,? please)?"
    r"|(?:still |just |now )?(?:looking|checking|reading|digging|asking)"
    r"(?! (?:\w+ ){0,3}(?:is|are|costs?|takes?)\b)\b[^.?\d]{0,50}"
    r"|[^.?\d]*\b(?:(?:will|'ll) (?:get|come|be) back (?:to|with) you|let me dig|hang tight)\b[^.?\d]*"
    r"|i can see (?:the|your) (?:messages?|chat|conversation)(?: above| here)?(?:,[^.?\d]{0,40})?"
    # feeling with her, and that it was noted
    r"|i (?:quite |totally |completely )?(?:understand|know|get|see) (?:how|what|that|why|it must)\b"
    r"(?![^.?]*\b(?:we|because|but)\b)[^.?\d]{0,70}"
    r"|(?:my |our )?apolog(?:ies|ise|ize) for\b(?![^.?]*\b(?:because|was|were|came)\b)[^.?\d]{0,70}"
    r"|(?:that(?:'s| is)|how) (?:very |so |really )?(?:strange|odd|weird|annoying)\b"
    r"(?:, i (?:don't|can't) see (?:it|that|anything)(?: here)?)?"
    r"|(?:noted[,.!] )?i(?:'ve| have) (?:just |now )?(?:noted|added|passed|written) (?:it|that|this)"
    r"(?: down| on| to the team| (?:to|in|on) (?:your|the) (?:file|record|notes?|account|chart))?"
    r"|i(?:'ll| will|'m going to| am going to) [^\d]+"
    r"|(?:we|somebody|someone|a colleague)(?:'ll| will|'re going to| are going to)"
    r" (?:get back|let you|be (?:in touch|right|with you|on|back)|look|check|find out|sort"
    r"|(?:call|ring|phone|text|e?-?mail|send|update|tell|keep) you|come back to you"
    r"|see you|ask)\b[^\d]*)$",
    re.I,
)
_LEAD = re.compile(
    r"^(?:ok(?:ay)?|sure|great|perfect|thanks?|thank you|of course|sorry|alright|all right"
    r"|no (?:problem|worries)|got it|understood|well|hi|hiya|hello|lovely|too easy|super|cool"
    r"|brilliant|wonderful|right|certainly|will do)\b[^,.!?]{0,20}[,!]\s+",
    re.I,
)


def is_filler(sentence: str) -> bool:
    return bool(_FILLER.match(sentence) or _FILLER.match(_LEAD.sub("", sentence)))
