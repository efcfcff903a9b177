package words

// stopWords are words that say nothing of what a question is about.
var stopWords = map[string]bool{
	"a": true, "an": true, "the": true, "and": true, "or": true, "but": true, "if": true, "so": true, "then": true, "than": true,
	"is": true, "are": true, "was": true, "were": true, "be": true, "been": true, "am": true, "it": true, "its": true, "this": true, "that": true,
	"these": true, "those": true, "there": true, "here": true, "i": true, "we": true, "you": true, "he": true, "she": true, "they": true,
	"me": true, "us": true, "my": true, "our": true, "your": true, "their": true, "of": true, "to": true, "in": true, "on": true, "at": true,
	"for": true, "from": true, "with": true, "by": true, "as": true, "into": true, "about": true, "do": true, "does": true, "did": true,
	"have": true, "has": true, "had": true, "what": true, "which": true, "who": true, "whom": true, "whose": true, "when": true, "where": true,
	"why": true, "how": true, "can": true, "could": true, "should": true, "would": true, "will": true, "shall": true, "may": true, "might": true,
	"must": true, "not": true, "no": true, "please": true, "again": true, "tell": true, "say": true, "said": true, "s": true, "t": true, "re": true,
	"der": true, "die": true, "das": true, "den": true, "dem": true, "ein": true, "eine": true, "und": true, "oder": true, "ist": true, "sind": true,
	"war": true, "wie": true, "wo": true, "wer": true, "wir": true, "ich": true, "fur": true, "für": true, "mit": true, "von": true, "zu": true, "im": true,
	"auf": true, "welche": true, "welcher": true, "welches": true, "noch": true, "le": true, "la": true, "les": true, "un": true, "une": true,
	"et": true, "ou": true, "est": true, "sont": true, "de": true, "du": true, "des": true, "dans": true, "pour": true, "avec": true, "quel": true,
	"quelle": true, "el": true, "los": true, "las": true, "que": true, "es": true, "y": true, "en": true, "para": true, "con": true, "cual": true,
}
