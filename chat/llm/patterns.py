"""Turns of phrase that say what a message is for, whatever the trade. English, with the commonest
words of a front desk in Spanish, French, German, Portuguese and Italian."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

Pattern = re.Pattern[str]


def _any(*parts: str) -> Pattern:
    return re.compile("|".join(f"(?:{p})" for p in parts), re.IGNORECASE)


# --- Small talk: every word of the message is one of these -------------------------------------------
SOCIAL = set(
    """hi hello hey hiya heya yo hullo howdy greetings morning afternoon evening night day good gday
    goodnight goodbye bye cya later hola buenas buenos tardes dias noches adios gracias muchas vale
    bonjour bonsoir salut coucou merci beaucoup hallo guten morgen abend moin servus danke schon
    vielen dank tschuss ola oi bom boa dia tarde noite obrigado obrigada ate logo tchau valeu ciao
    buongiorno buonasera grazie mille prego thanks thank thx ty tysm cheers ta merci lovely great
    perfect awesome amazing brilliant cool nice super wonderful fantastic excellent sweet ok okay okey
    oki doki dokie kk k yes yep yeah yup no nope nah sure fine right alright gotcha understood
    wow haha hahaha lol lmao hehe rofl aww aw oh ah aha hm hmm welcome sorry pardon please pls
    you u your ya all everyone team guys folks both so very much really too that thats this its it is
    was im i am me and for the a again now then there here nothing else everything done sorted
    see soon tomorrow take care have weekend week rest appreciate appreciated helpful help helped
    kind sounds works noted got know glad happy cute yay phew bless kudos x xx xoxo man mate dear sir
    madam bot nevermind never mind worries problem worry anyone home well be to of""".split()
)
GREETING = _any(
    r"^\W*(hi|hello|hey+|hiya|yo|howdy|good (morning|afternoon|evening|day)|morning|evening)\b",
    r"^\W*(hola|buen[oa]s|bonjour|bonsoir|salut|hallo|guten|moin|servus|ol[aá]|oi|bo[am] |ciao|buon)",
)
THANKS = _any(
    r"\b(thanks?|thank (you|u)|thx|ty|tysm|cheers|ta|appreciate)\b",
    r"\b(gracias|merci|danke|obrigad[oa]|grazie|valeu)\b",
)
BYE = _any(
    r"\b(bye|goodbye|good ?night|see (you|u|ya)|take care|talk (soon|later)|cya)\b",
    r"\b(adi[oó]s|au revoir|tsch[uü]ss|at[eé] logo|tchau|arrivederci)\b",
)

# --- A person is wanted ---------------------------------------------------------------------------
_WHO = (
    r"(human|person|people|someone|somebody|anyone|anybody|agent|operator|representative|rep|manager|"
    r"supervisor|receptionist|staff|colleague|team|advisor|adviser|assistant|owner|boss|"
    r"real (one|voice)|front desk|customer (service|support|care))"
)
_REACH = r"(speak|talk|chat|write|connect|transfer|put|get|pass|escalate|hand|let)"
PERSON = _any(
    rf"\b{_REACH}\b.{{0,25}}\b(to|with|through|me)\b.{{0,25}}\b{_WHO}\b",
    r"^\W*(a |an )?(real |live |actual )?(human|person|agent|operator|representative)( please| pls)?\W*$",
    r"\b(real|live|actual|living) (human|person|people|being|agent|voice)\b",
    r"\b(human being|member of staff)\b.{0,20}\b(please|talk|speak|help)?",
    rf"\b(can|could|may|please|have|ask|would)\b.{{0,30}}\b({_WHO}|[A-Z][a-z]+)\b.{{0,40}}"
    r"\b(call|ring|phone|write|reply|message|get back|contact|e-?mail) (to |with )?(me|us)\b",
    r"\b(not|n't|no|never|rather not|instead of|sooner not|without)\b.{0,30}"
    r"\b(bots?|machines?|robots?|computers?|automatic|automated|ai)\b",
    r"\b(make|file|lodge|raise|have) (a|an)? ?(formal |official )?complaint\b",
    r"\b(like|want|wish|need|have) to complain\b",
    r"\bcall ?back\b.{0,10}$",
    r"\bcallback\b",
    r"\b(you (are|'re) not (understanding|getting|listening)|you (don't|do not) understand)\b",
    r"\b(not|n't|isn.t) what i (asked|meant|mean|said|need)\b",
    r"^\W*(nope?|neither)?\W*(none|neither) of (these|those|them|the above)\b",
    r"\b(useless|going nowhere|waste of (my )?time)\b",
    r"\b(same (thing|answer)|told me (that|this)|asked (you )?(this|that|you)).{0,20}"
    r"\b(times|again|twice|already)\b",
    r"\bwhen will (a person|somebody|someone|anyone)\b",
    r"\bhablar con (una persona|alguien|un agente|un humano|el encargado)",
    r"\bparler (à|a|avec) (une personne|quelqu|un humain|un conseiller|un agent)",
    r"\bmit (einem menschen|einer person|jemandem|einem mitarbeiter|einer mitarbeiterin)",
    r"\bfalar com (uma pessoa|algu[eé]m|um atendente|um humano)",
    r"\bparlare con (una persona|qualcuno|un operatore)",
)
CARE = _any(r"\bis (there|anybody|anyone)\b.{0,40}\b(instead of|not a|rather than|real|human|alive)\b")

# --- What is known, and forgetting -------------------------------------------------------------------
KNOWN = _any(
    r"\bwhat (do|did|have|else do) (you|u|ya)( guys| all)?( already| still)? "
    r"(know|remember|noted?|store[d]?|saved?|got|have|written|on file)\b.{0,25}"
    r"\b(about|on|of|for) me\b\W*$",
    r"\bwhat.{0,12}\b(remember|noted|stored|saved|on file|know)\b.{0,12}\b(about|on) me\b",
    r"\bshow (me )?(what|everything).{0,20}\b(know|have|noted|stored)\b.{0,20}\bme\b",
    r"\b(everything|all) (that )?you (know|have|remember|store).{0,12}\b(about|on) me\s*\?",
    r"\bqu[eé] sab(es|en) (de|sobre) m[ií]\b",
    r"\bque savez[- ]vous (de|sur) moi\b",
    r"\bwas wei(ss|ß)t (du|ihr)|wissen sie .{0,10}über mich\b",
    r"\bo que (voc[eê]s?|sabem?) .{0,12}sobre mim\b",
)
_FORGET_VERB = (
    r"(forget|delete|erase|remove|wipe|scratch|drop|clear|strike|get rid of|take (out|off)|"
    r"stop (storing|keeping|remembering|using)|(don't|do not|dont) (store|keep|save|remember)|"
    r"unlearn|unremember|purge|discard)"
)
FORGET = _any(
    rf"^\W*(ok |okay |then |and |so |yes |no |well |actually |sorry |please |pls |hi |hey )*"
    rf"(can|could|would|will)?( you| u)?( please| pls| just)? ?{_FORGET_VERB}\b",
    rf"\b(please|pls|can you|could you|you can|you may|i want you to|i'd like you to|then)( just)?"
    rf" {_FORGET_VERB}\b",
    r"\b(don't|do not|dont) want (it|that|this|you|my .{1,25}) .{0,15}\b(stored|kept|saved|keep|store)",
    r"\bwant to be forgotten\b",
    r"\btake (my|the) .{1,40}\b(off|out of|from) (my|your|the) (account|records?|file|system|list)\b",
    r"\b(olvida|borra|elimina)(r|d|n)?\b.{0,30}\b(mi|mis|lo que|dato)",
    r"\b(oublie[zr]?|supprime[zr]?|efface[zr]?)\b.{0,30}\b(mon|ma|mes|ce que)",
    r"\b(vergiss|vergessen sie|lösch)\w*\b",
    r"\b(esque[cç]a|apag(ue|a)|remova)\b.{0,30}\b(meu|minha|o que)",
)
FORGET_NOT = _any(
    r"\b(don't|do not|dont|never|won't|didn't|did not|almost|nearly|i|we|i'd|i've|i'll|ever) "
    r"(\w+ )?(forget|forgot|forgotten)\b",
    r"\bforget (it|about it)\b[,.!]",
    r"^\W*(oh )?(just )?forget (it|about it)\W*$",
    r"\b(items?|order|cart|basket|subscription|appointment|booking|reservation|account)\W*$",
)
FORGET_ALL = _any(
    r"\b(everything|all (of )?(it|that|this|my data|my information|my details|you know|about me)|"
    r"all you|my data|anything)\b.{0,40}$",
    r"\bbe forgotten\b|^\W*(please )?forget me\b",
    r"\b(todo|tout|alles|tudo)\b",
)

# --- Questions about oneself --------------------------------------------------------------------------
SELF = _any(
    r"\b(did|have|had) (i|we) (ever |already |not |once )?"
    r"(tell|told|say|said|mention|mentioned|give|gave|given|let)\b",
    r"\bi( have|'ve| had|'d)? (already )?(told|gave|given|said|mentioned)\b[^.!]*\?",
    r"\bwhat(ever)? (did|was it|is it) (that )?i (say|said|tell|told|gave|picked|chose)\b",
    r"\b(did i|was it (that )?i) (say|tell|give|pick|choose|want|ask)\b",
    r"\b(do|did|have|had) (you|u|ya|they)( guys| all| still| actually| already| even)? "
    r"(still )?(have|know|got|remember|hold|keep|recall)\b.{0,60}\b(my|me|mine|i|our|us|we|i'm)\b",
    r"\b(you|u) (still )?(have|got|know|remember)\b.{0,40}\b(my|me|mine|i)\b.{0,60}(right|correct|no)?\?",
    r"\b(do|does|are|is)\b.{0,40}\b(on|in) (my |your |the )?"
    r"(file|files|records?|books|system|notes?|account|profile|chart)\b",
    r"\b(have|got|has|had|is|are) .{0,40}\b(down|noted|listed|stored|saved|registered|recorded|on file)\b",
    r"\b(am|was) i (down|listed|registered|called|noted|still)\b",
    r"\b(have|had|got) (me|us) (down )?(as|under|on|at|for)\b",
    r"\b(got|have|hold|keep) (down )?(for|on|about) (me|us)\b",
    r"\b(under|by) (what|which) name\b",
    r"\bmy (usual|normal|regular|preferred)\b.{0,30}\?",
    r"\b(do|did) (i|we) (usually|normally|always|generally|typically|like|prefer)\b",
    r"\b(you|they)( usually| normally| always)? (try to )?"
    r"(book|call|ring|reach|contact|text|e-?mail|write to|send|ship to|get hold of) (me|us)\b.*\?",
    r"\b(what|which|how|where|who)\b.{0,30}\b(using|use|used) for (me|us)\b",
    r"\bremind me (what|which|who|how|where|of|when)\b",
    r"\b(what|which|who|how|where|when).{0,6} (is|are|was|were|'s|s)? ?(my|our)\b"
    r"[^?.]{1,40}\b(again)\b",
    r"^\W*(so |and |hey |hi )?what'?s? (is |was |are )?(my|our) [\w\s-]{2,40}\??$",
    r"\b(my|our) (file|records?|profile|chart) say",
    r"\b(you|u) (should |must )?(already|still)? ?have (that|it|this|those)( already)?\b",
    r"\bhow (did|do) (we|i) (agree|arrange|want|prefer|like|usually|normally|pay)\b",
    r"\b(is|was) it still\b.{0,40}\b(have|got|use|using)\b",
    r"\byou (never|always) (give|send|call|book|put)\b.{0,60}\?",
    r"\bsame .{1,30} (you had|as you have|you have)\b",
    r"\b(do|does) .{2,40} know (how|that|about|what|why) (i|my|me)\b",
    r"\b(mi|mis|en mi) (ficha|expediente|cuenta)\b|\btienen? (apuntad|anotad|registrad)",
    r"\b(mon|ma) (dossier|fiche|compte)\b|\bavez[- ]vous (noté|enregistré)",
    r"\b(meine[rn]? (akte|konto|profil))\b|\bhabt? ihr .{0,20}(notiert|gespeichert)",
    r"\b(sabe[ms]?|lembra[ms]?) .{0,30}\b(eu|meu|minha|prefiro)\b",
)
USUAL = _any(r"\b(my|the|our) (usual|normal|regular)\b|\bas (usual|always)\b|\bsame .{1,20} as (last|before)")

# --- What sort of sentence ----------------------------------------------------------------------------
ASKS = _any(
    r"\?",
    r"^\W*(and |so |ok |okay |hi |hey |hello |but |um |also |sorry |just |then |yo |well )*"
    r"(what|whats|which|who|whos|whose|when|whens|where|wheres|why|how|hows|is|are|am|was|were|do|does"
    r"|did|don't|can|could|may|might|should|shall|will|would|have you|has|any|whens)\b",
    r"^\W*(¿|qué|cuál|cuánto|cómo|dónde|cuándo|puedo|peut|est-ce|combien|comment|où|quand|wie|was|wo"
    r"|wann|kann|darf|gibt|como|quanto|onde|posso|vocês)",
    r"\bwhat (if|happens|do i|about)\b|\bi (was )?wonder(ing)?\b|\b(any idea|tell me) (if|how|what|when)",
    r"\b(what|how|which|where|when) (would|do|does|is|are|should|can|much|many|long)\b",
)
WISHES = _any(
    r"^\W*(please|pls|kindly)\b",
    r"\b(i|we)('d| would) (like|love) (to|a|an|my|the|another|two|one)\b",
    r"\b(i|we) (want|need|wish) (to (book|cancel|move|change|order|return|reschedule|make|get|see|come)"
    r"|a|an|my|another|the|two)\b",
    r"\b(can|could|would|will) (you|u|i|we|someone|somebody)\b.{0,25}"
    r"\b(book|cancel|reschedule|move|change|send|resend|order|refund|add|upgrade|find|set up|fix|close"
    r"|schedule|arrange|extend|renew|put|sign|make|have|get)\b",
    r"^\W*(book|cancel|reschedule|move|change|send|resend|order|refund|add|upgrade|find|close|sign|fix"
    r"|schedule|arrange|extend|renew|put|make)\b",
)
OWN = _any(
    r"\b(i|i'm|im|i've|ive|i'd|i'll|my|me|mine|we|we're|our|us)\b",
    r"\b(yo|mi|me|je|j'|mon|ma|mes|ich|mein\w*|eu|meu|minha|prefiero|prefiro|io)\b",
)
YOU = _any(r"\b(you|your|u|ur|yall|y'all|you guys)\b")
STATES = _any(
    r"^\W*(fyi|just so you know|by the way|btw|please note|note that|for your info\w*|heads up)\b",
    r"\b(from now on|going forward|in (the )?future|these days|no longer|not .{1,20} any ?more)\b",
    r"\b(i|we)('m| am|'ve| have|'re| are)?( just| only| always| usually| never| now| also)*"
    r" (prefer|switched|changed|moved|use|go by|wear|live|come|work|hate|love|can't|cannot|only|pay)\b",
    r"\b(new|my) (number|address|name|email|phone|cell|card|plan|id)\b.{0,15}\b(is|are|:|it's)",
    r"\bcall me\b|\ballergic to\b|\bi'd rather\b|\bsuits? me\b|\bworks? (best )?for me\b",
)
JUDGES = _any(
    r"\b(should|shall|may|must|do|can|could) (i|he|she|they|we|my \w+)\b.{0,60}"
    r"\b(stop|skip|take|taking|put off|carry on|keep (taking|going)|wait|come in|go in|worry|sign)\b",
    r"\b(is|are|was) (that|it|this|they)\b.{0,25}\b(normal|ok|okay|bad|serious|infected|infection"
    r"|healing|dangerous|safe|failing|broken|worn)\b",
    r"\b(will|does) (it|that|this)\b.{0,12}\b(go away|heal|get better|be ok|come back)\b",
    r"\bhow (much|many)\b.{0,40}\b(ml|mg|dose|pills?|tablets?|drops|syrup|units)\b",
    r"\b(pregnant|breast ?feeding|diabet\w+|blood thinners?|warfarin|pacemaker|stent|heart condition)\b",
    r"\b(after|since|for) (\w+ )?(one|two|three|four|five|six|seven|nine|ten|\d+) "
    r"(days?|weeks?|hours?|months?)\b",
    r"\b(my|our|his|her) (order|parcel|package|refund|payment|invoice|bill|claim|case|results?|scan"
    r"|x-?ray|balance|appointment|booking|repair)\b",
    r"\b(which|what) of (mine|my|his|her)\b|\bdid (something|anything) go wrong\b",
)

# --- Danger ---------------------------------------------------------------------------------------------
DANGER = _any(
    r"\b(can'?t|cannot|can not|couldn'?t|unable to|hard to|struggl\w+ (to|for)|trouble|difficulty|stopped|"
    r"not|barely|fighting to) ?(get )?(breath\w*|breth\w*|air|swallow\w*)\b",
    r"\b(breath|brea?th)\w* (problem|difficult|trouble|is getting|right|properly)",
    r"\bwheez\w+|\bchok(e|ing)\b|\bsuffocat\w+|\bgasping\b|\bturn(ing|ed) blue\b|\blips? (is|are) blue\b",
    r"\b(throat|tongue|lips?|face|neck|airway)\b.{0,25}\b(swell\w*|swollen|clos\w+|balloon\w*|puff\w*|"
    r"blow\w* up|blew up|tight)",
    r"\b(swell\w*|swollen)\b.{0,30}\b(throat|tongue|lips?|neck|eyes?|airway)\b",
    r"\b(up to|reach\w*|closer to|near|into|spread\w* to)\b.{0,12}\b(eyes?|neck|throat)\b|"
    r"\b(barely|can'?t|cannot|hardly) (open|see)\b",
    r"\b(unconscious|unresponsive|not respond\w*|not answering me|won'?t wake|passed out|pass out|"
    r"collapsed|blacked out|fainted|limp|not moving|no pulse)\b",
    r"\b(he|she|they|dad|mum|mom|mother|father|husband|wife|man|woman|lady|guy|someone|somebody|son|"
    r"daughter|kid|baby|patient|customer|guest|dog|cat)('?s)? (just )?(went|gone|dropped|keeled) "
    r"(down|over|to the (floor|ground))\b",
    r"\b(blood|bleed\w*)\b.{0,30}\b(everywhere|won'?t stop|not stop\w*|pour\w*|pump\w*|spurt\w*|gush\w*|"
    r"soak\w*|still|hours?|heavy|heavily|a lot)",
    r"\b(so much|lots of|lot of|losing) blood\b|\b(bled|bleeding) (through|for)\b",
    r"\b(chest)\b.{0,12}\b(pain|tight|hurts|pressure)|\bheart attack\b|\bstroke\b|\bseizure|\bfitting\b",
    r"\b(kill(ing)?|hurt(ing)?|harm(ing)?|cut(ting)?) (myself|himself|herself|themselves|my wrists)\b",
    r"\bsuicid\w*|\bend(ing)? (it all|my life|it for good)\b|\b(want|wish|ready) to die\b",
    r"\b(don'?t|do not|no longer|not) want to (live|be here|wake up|go on|exist)\b",
    r"\bbetter off (without me|if i (was|were) (dead|gone)|dead)\b|\bno (reason|point) (in |to )?(liv|go)",
    r"\b(want|wish)\w* (it|this|everything) (all )?(to be|was|were) over\b|\boverdos\w*|"
    r"\bwhole (bottle|pack) of (pills|tablets)\b",
    r"\b(swallowed|ate|drank|eaten|drunk)\b.{0,30}\b(batter\w+|poison\w*|bleach|pills?|chemical\w*|"
    r"antifreeze|magnets?|detergent|cleaning)",
    r"\bpoison(ed|ing)?\b|\bsmell(s|ing)? (of )?(gas|burning|burnt)\b|\bgas (leak|smell)\w*",
    r"\b(leaking|smelling) gas\b|\bcarbon monoxide\b|\b(on|caught|catching) fire\b|\bflames?\b|"
    r"\bsmok(e|ing) (is |was )?(com\w+|from|out|and)|\bexplod\w+|\bspark(s|ing)\b|\belectrocut\w+|"
    r"\belectric shock\b",
    r"\bknocked (out|clean out)\b|\bdislocat\w+|\bcut off\b.{0,10}\b(finger|toe|hand)|"
    r"\b(finger|toe|hand|arm)\b.{0,12}\bcut off\b",
    r"\bhit (his|her|my|the|their) head\b|\b(stiff|rock[- ]hard)\b.{0,12}\bneck\b|\bneck'?s?\b.{0,10}"
    r"\b(stiff|hard)\b",
    r"\b(10[3-6](\.\d)?|39\.\d|4[0-2](\.\d)?) ?(°|degrees|fever|f\b|c\b)|\bhigh fever\b|^\W*10[3-6]\.\d",
    r"\b(break\w*|broke) in(to)?\b.{0,20}\bnow\b|\b(with|has|got) a (knife|gun)\b|\bbomb\b|\bhelp me now\b",
    r"\b(hacked|data breach|breached|leaked)\b|\bdeleting (all|our|everything)",
    r"no puedo (respirar|tragar)|no respira|inconsciente|desmay\w+|sangr\w+ (mucho|sin parar)|"
    r"hincha\w*.{0,25}(lengua|garganta|ojo|cara|cuello)|(lengua|garganta).{0,20}hincha|"
    r"suicid\w+|matarme|quitarme la vida|huele a gas|incendio|se ahoga|dolor .{0,8}pecho",
    r"(peux|arrive) (pas|plus) (à |a )?(respirer|avaler)|ne respire (pas|plus)|inconscient|évanoui|"
    r"saigne.{0,25}(beaucoup|arrête)|gonfl\w+.{0,25}(langue|gorge|oeil|œil|visage|cou)|"
    r"(langue|gorge|visage).{0,20}gonfl|me tuer|en finir|odeur de gaz|au feu|douleur .{0,12}poitrine",
    r"(keine luft|nicht (mehr )?(atmen|schlucken))|bewusstlos|ohnmächtig|blutet.{0,30}(stark|auf)|"
    r"(zunge|hals|gesicht|lippen).{0,20}(schwillt|geschwollen|schwoll)|umbringen|selbstmord|"
    r"nicht mehr leben|gasgeruch|riecht nach gas|es brennt|brustschmerz|erstick",
    r"n[aã]o (consigo|estou conseguindo) (respirar|engolir)|n[aã]o respira|desmai\w+|sangra\w* muito|"
    r"inch\w+.{0,25}(l[ií]ngua|garganta|olho|rosto)|(l[ií]ngua|garganta).{0,20}inch|me matar|"
    r"cheiro de g[aá]s|pegando fogo|dor no peito",
    r"non (riesco|posso) .{0,6}(respirare|deglutire)|non respira|svenut\w|sanguina.{0,20}molto|"
    r"ammazzarmi|odore di gas|gonfi\w+.{0,20}(lingua|gola)",
)
# Idioms with a dangerous word in them: taken out before danger is looked for.
IDIOM = _any(
    r"\b(nearly |almost |practically )?(gave|give|giving|had|got|have) (me |us |my \w+ )?a "
    r"(little |mini |small )?(heart attack|stroke)\b",
    r"\b(is|are|was|were|'s|'re|am|'m|s) (\w+ )?(killing|bleeding) (me|us)\b( dry| softly)?",
    r"\bbleed\w* (me|us|them|you) dry\b|\bbleeding (edge|hearts?)\b",
    r"\b(dying|die|died|dead|killed) (to|for|of|from|laughing|with)?\b ?(know|see|try|laughter|boredom"
    r"|laughing|curiosity|hunger)?",
    r"\b(i'd|would|could) (kill|murder) (for|a)\b|\bkilled it\b|\bkiller\b",
    r"\b(phone|inbox|team|you|u|they|prices?|deal)('s| is| are|'re)? on fire\b|\bfire (sale|safety|drill)",
    r"\bchok(e|ing) on (the|that|my) (price|bill|coffee|quote)\b|\bto die for\b|\bout of breath\b",
    r"\bhold(ing)? my breath\b|\bbreath of fresh air\b|\bblood (test|pressure|thinner|type|donor)\w*\b",
    r"\bhard to swallow\b(?= (price|news))|\bstroke of\b|\bheart attack (grill|burger)\b",
    r"\b(since|after|had) (the|a|his|her|my) (stroke|heart attack|seizure)\b|\bin (19|20)\d\d\b",
)
HISTORY = _any(
    r"\b(last|years? ago|used to|as a (child|kid)|when i was|since childhood|in the past|once)\b",
    r"\b(if|in case|what (do|should) (i|we) do (if|when)|how do (i|you) (stop|prevent|avoid))\b",
    r"\b(faint|panic|pass out) (at|when|whenever|every time|during)\b|\b(makes?|make) me (faint|panic)",
    r"\b(do you (sell|have|stock|offer|treat)|is it normal|how long|usually|normally)\b",
)
EMOJI_ONLY = re.compile(r"^[\W\d_]*$")

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")


def words(text: str) -> list[str]:
    """Return the words in lower case, without accents and apostrophes."""
    plain = unicodedata.normalize("NFD", text.casefold().replace("’", "'"))
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    return [w.replace("'", "") for w in _WORD.findall(plain)]


def hits(text: str, patterns: Iterable[Pattern]) -> list[bool]:
    text = text.replace("’", "'")
    return [bool(p.search(text)) for p in patterns]


def sentences(text: str) -> list[str]:
    """Return the sentences of a message; line breaks end one too."""
    parts = re.split(r"(?<=[.!?…])\s+|\n+|(?<=[a-z]);\s+", text.strip())
    return [p for p in (part.strip() for part in parts) if p]
