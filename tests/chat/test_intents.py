"""What a message is for, in trades that nobody trained on: a vet, software, a hotel, a shop."""

import pytest

from chat.llm import emergencies, intents, topics
from chat.llm.base import Topic
from chat.llm.intents import Kind
from memory.llm.embeddings import embed_one

LISTED = ["a person or an animal that does not breathe", "fire or smoke", "somebody wants to die"]


def kind(text):
    return intents.read(text, embed=embed_one).kind


def alarming(text, listed=LISTED):
    return bool(emergencies.find(text, listed=listed, embed=embed_one))


@pytest.mark.parametrize(
    "text",
    [
        "hi",
        "Hello there!",
        "hey 👋",
        "good evening",
        "thanks so much",
        "ok thanks",
        "👍",
        "😂😂",
        "great, see you on Monday",
        "no that's all, thank you",
        "bye bye",
        "you're quick",
        "gracias, hasta luego",
        "merci beaucoup",
        "vielen dank",
        "our puppy learnt to sit today, we're so proud",
        "the lobby smells amazing, well done",
        "enjoy your weekend everybody",
        "that made me laugh",
        "sounds good to me",
    ],
)
def test_small_talk(text):
    assert kind(text) is Kind.SMALL_TALK


@pytest.mark.parametrize(
    "text",
    [
        "can I talk to a human",
        "HUMAN PLEASE",
        "get me a manager",
        "I'd like to speak with someone from billing",
        "could the groomer call me back",
        "stop, I don't want to talk to a bot",
        "this isn't what I asked for",
        "none of those",
        "no, none of them",
        "that's not it. third time now",
        "you keep sending me the same paragraph",
        "I want to talk with whoever is in charge",
        "let me have a word with the person who runs this",
        "I'd rather discuss it with whoever deals with invoices",
        "I want to make a complaint",
        "is there a real person I can talk to",
        "quiero hablar con una persona",
        "ich möchte mit einem Menschen sprechen, kann ich mit jemandem reden",
        "je voudrais parler à quelqu'un",
        "please let someone from the team get back to me",
    ],
)
def test_a_person_is_wanted(text):
    assert kind(text) is Kind.PERSON


@pytest.mark.parametrize(
    "text",
    [
        "which food did I tell you my cat eats?",
        "what's our plan again?",
        "do you still have my work number?",
        "have you got anything noted about my dog and other dogs?",
        "how did I say I want my invoices?",
        "which room do I usually get?",
        "I moved. Which plan do I have now?",
        "what insurance am I with?",
        "am I down as a member with you?",
        "what size do you have for me",
        "you know that I'm allergic to feathers, right?",
        "did I ever give you our VAT number?",
        "what email address are you using for me",
        "who's my account manager again?",
    ],
)
def test_a_question_about_oneself(text):
    assert kind(text) is Kind.SELF


@pytest.mark.parametrize(
    "text",
    [
        "which locker did we give up in spring?",
        "in which name does the allotment run, mine or my brother's?",
        "do the trainers know that I can't hear on the left?",
        "the landlord asks for my meter number, what is it?",
        "how are you going to let me know about the audition?",
        "who do we normally have for the windows?",
        "what did we choose for the lettering?",
    ],
)
def test_a_question_about_oneself_in_words_that_name_no_record(text):
    assert kind(text) is Kind.SELF


@pytest.mark.parametrize(
    "text",
    [
        "What do you know about me?",
        "what have you stored about me",
        "what do you remember about me?",
        "show me everything you know about me",
    ],
)
def test_what_is_known(text):
    assert kind(text) is Kind.KNOWN


@pytest.mark.parametrize(
    "text",
    [
        "forget my phone number",
        "please delete what I said about my budget",
        "can you remove my old address",
        "forget everything",
        "don't store my birthday please",
        "scratch the note about the late check-in",
        "you can drop the thing about the window seat",
        "take my night number out again please",
        "pull my maiden name from your files",
        "you needn't keep how much I weigh",
        "lose the bit about the crutches, I can walk again",
        "what it says about pork is wrong, please delete that",
    ],
)
def test_a_request_to_forget(text):
    assert kind(text) is Kind.FORGET


@pytest.mark.parametrize(
    "text",
    [
        "I forgot my password, what now?",
        "forget it, I'll just call",
        "please cancel my order",
        "don't forget my appointment on monday",
        "everything as in the offer, but leave half of it in storage till June",
        "we cancelled our subscription to the paper last week",
        "put my sister on my file as well, will you",
        "get my coat out of the cloakroom please",
        "take the old tyres off and keep them for me",
    ],
)
def test_what_only_sounds_like_it(text):
    assert kind(text) is not Kind.FORGET


@pytest.mark.parametrize(
    "text",
    [
        "do you board rabbits?",
        "how much is a night with breakfast",
        "can I export everything as csv",
        "what time does the pool close",
        "is the jacket machine washable?",
        "are you open on new year's day",
        "do you deliver to islands",
        "what's the difference between team and business",
        "how do I reset my two factor code",
        "can I bring my own wine",
    ],
)
def test_a_question_for_everyone(text):
    assert kind(text) is Kind.QUESTION


@pytest.mark.parametrize(
    "text",
    [
        "should I stop his tablets before the operation?",
        "her stitches look red, is that infected?",
        "where is my parcel, it was due on friday",
        "why was my card charged twice?",
        "my rabbit hasn't eaten since noon, should I come in or wait?",
        "is that mole on my arm dangerous?",
    ],
)
def test_what_a_person_must_judge(text):
    reading = intents.read(text, embed=embed_one)

    assert reading.kind is Kind.PERSONAL


@pytest.mark.parametrize(
    "text",
    [
        "my dog isn't breathing",
        "the hotel room is filling with smoke",
        "there is a fire in the kitchen",
        "I don't want to live any more",
        "my wife has collapsed at your reception",
        "he's choking",
        "the charger you sold me is burning",
        "I can't breathe",
        "my baby swallowed a magnet from your set",
        "somebody is in our account and deleting everything right now",
        "no puedo respirar",
        "er ist bewusstlos",
        "elle ne respire plus",
        "i cant breth",
        "she drank the cleaner and is throwing up",
        "my cat was run over and is bleeding heavily",
        "I'm going to kill myself",
        "there's gas smell everywhere from the new stove",
        "our sitter has fallen and won't come round",
        "I don't see the point of going on without him",
        "mein Kollege hat Krämpfe und reagiert nicht mehr",
        "nothing matters any more, I have the rope here to end it",
        "I'm going to drive into a wall",
        "I won't see tomorrow, tell the kids I love them",
        "our little boy is missing",
        "somebody is beating my neighbour",
        "a nail went into his eye",
        "la cocina está ardiendo",
        "mein Sohn ist verschwunden",
    ],
)
def test_an_emergency(text):
    assert alarming(text)


@pytest.mark.parametrize(
    "text",
    [
        "these prices are killing me",
        "I'm dying to see the new collection",
        "the wifi is so slow it kills me",
        "your chef is on fire 🔥",
        "the bill nearly gave me a heart attack",
        "is the fireplace in the lobby real?",
        "do you sell smoke detectors?",
        "my dog has fleas",
        "is there a lifeguard at the pool?",
        "do you have an emergency number?",
        "I faint when I see needles, please note that",
        "my order is late again",
        "the app crashed twice today",
        "what do you do in case of fire?",
        "thanks a lot",
        "my cat sneezes a lot lately",
        "I had a stroke in 2015 so I walk with a cane",
    ],
)
def test_no_emergency(text):
    assert not alarming(text)


def test_the_businesss_own_words_count_in_every_trade():
    assert alarming("the lift is stuck with me in it", ["the lift is stuck"])
    assert alarming("help, there's a wasp nest in the play area", ["wasp nest in the play area"])


ROOMS = (
    Topic("room", "Preferred room", "Which room or floor the guest likes.", ("a quiet room",)),
    Topic("diet", "Diet", "What the guest does not eat.", ("I'm vegan", "no nuts for me")),
    Topic("arrival", "Arrival time", "When the guest usually arrives.", ("I get in around ten",)),
    Topic("invoice", "Invoice address", "Where invoices are sent.", ("bill it to my firm",)),
)


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("which room do I like?", "room"),
        ("did I tell you what I don't eat?", "diet"),
        ("when do I usually arrive?", "arrival"),
        ("where do you send my invoices?", "invoice"),
    ],
)
def test_a_question_names_its_topic(text, topic):
    key, score = topics.named(text, ROOMS, embed=embed_one)[0]

    assert key == topic
    assert score >= topics.NAMED


@pytest.mark.parametrize("text", ["what's the weather like?", "do you take crypto?"])
def test_a_question_that_names_none(text):
    assert topics.named(text, ROOMS, embed=embed_one)[0][1] < topics.NAMED


@pytest.mark.parametrize(
    ("text", "courtesy"),
    [("hi", "greeting"), ("ok thanks", "thanks"), ("bye now", "goodbye"), ("👍", "fine")],
)
def test_each_courtesy_gets_its_own_reply(text, courtesy):
    assert intents.courtesy(text) == courtesy


@pytest.mark.parametrize("text", ["and then", "my new address", "so I wanted"])
def test_an_unfinished_message_is_waited_for(text):
    assert intents.unfinished(text)


@pytest.mark.parametrize("text", ["hi", "ok thanks", "what are your hours?", "I moved to Bath."])
def test_a_finished_one_is_not(text):
    assert not intents.unfinished(text)


@pytest.mark.parametrize("text", ["What options do I have?", "Which papers do I have to bring?"])
def test_having_is_not_always_about_oneself(text):
    assert kind(text) is not Kind.SELF


OF_A_SOFTWARE_COMPANY = [
    "account taken over by somebody else",
    "customer data exposed",
    "ransomware",
]


@pytest.mark.parametrize(
    "text",
    [
        "someone in Oslo signed in as me and is changing all passwords",
        "our client list stands on a public page",
        "we think there is a hacker inside our workspace",
    ],
)
def test_what_the_business_calls_an_emergency_is_one_in_other_words(text):
    assert alarming(text, OF_A_SOFTWARE_COMPANY)


@pytest.mark.parametrize(
    "text",
    [
        "is there a way to block a colleague who has left?",
        "the new dashboard is to die for",
        "can I leave it on the flame?",
        "please forget the burn that I told you about",
        "the kids have moved out, so there's only me now",
    ],
)
def test_what_only_sounds_like_one_is_none(text):
    assert not alarming(text, OF_A_SOFTWARE_COMPANY)


@pytest.mark.parametrize(
    "text",
    [
        "typed the wrong date just now!! can that still be put right",
        "she's just turned five and quite small, which size",
        "somebody said it gives off fumes, is yours alright",
        "we run a club, any chance of a better price",
    ],
)
def test_a_question_behind_something_else_is_heard(text):
    assert intents.read(text, embed=embed_one).asks


def test_a_story_that_begins_with_when_asks_nothing():
    text = "I have to say this. When I was small we had a teacher who shouted. That's all."

    assert not intents.read(text, embed=embed_one).asks


@pytest.mark.parametrize(
    "text",
    [
        "how many extra seats can we have at the very most",
        "how many bags may I bring?",
        "what's the maximum for one person?",
    ],
)
def test_what_can_be_is_no_question_about_what_was_told(text):
    assert kind(text) is not Kind.SELF
