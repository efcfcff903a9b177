package memory_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"
	"unicode"

	"appserver/core/effects/memory"
)

// distractors is the number of passages that no question asks for. They have the same subjects and
// words as the facts.
const distractors = 2200

// corpus returns all passages: the facts first.
func corpus() []memory.Row {
	var rows []memory.Row
	for i, f := range facts() {
		rows = append(rows, memory.Row{RepoKey: repo, SessionID: fmt.Sprintf("s%d", i%40), TS: 1_700_000_000_000 +
			int64(i)*60_000, Kind: memory.Summary, Title: f.title, Text: f.text})
	}
	random := rand.New(rand.NewPCG(1, 2))
	seen := map[string]bool{}
	for len(rows) < len(facts())+distractors {
		title, text := distractor(random)
		if !seen[text] {
			seen[text] = true
			i := len(rows)
			rows = append(rows, memory.Row{RepoKey: repo, SessionID: fmt.Sprintf("s%d", i%40), TS: 1_700_000_000_000 +
				int64(i)*60_000, Kind: memory.Summary, Title: title, Text: text})
		}
	}
	return rows
}

// distractor fills a template with words.
func distractor(random *rand.Rand) (title, text string) {
	all := templates()
	filled := all[random.IntN(len(all))]
	for _, of := range vocabulary() {
		for strings.Contains(filled, of.name) {
			filled = strings.Replace(filled, of.name, of.words[random.IntN(len(of.words))], 1)
		}
	}
	for strings.Contains(filled, "#") {
		filled = strings.Replace(filled, "#", fmt.Sprint(random.IntN(9000)+10), 1)
	}
	title, text, _ = strings.Cut(filled, "|")
	return title, text
}

func templates() []string {
	return []string{
		"Port of SERVICE|The SERVICE service listens on port # in ENVIRONMENT; its metrics are on port #.",
		"Timeout of SERVICE|Calls from SERVICE to SERVICE have a deadline of # ms and are retried # times in ENVIRONMENT.",
		"TEST is flaky|TEST failed # of 1000 runs; it shares a STORE with TEST and needs its own prefix.",
		"Decision about THING|Decision: THING is kept in STORE, keyed by FIELD. PERSON was against it, since the SERVICE service reads it.",
		"Review of FOLDER|Changes below FOLDER need a review by PERSON, who also owns THING.",
		"ERROR in SERVICE|The SERVICE service failed with ERROR at FILE:#. The cause was FIELD of THING, which was empty.",
		"Command for THING|Run `TOOL THING --env ENVIRONMENT` after changing FILE; it takes # seconds.",
		"Flag for THING|The flag THING_FLAG in config/flags.yaml turns on THING for # percent of customers in ENVIRONMENT.",
		"Slow THING page|The page of THING took # ms because of a query for each FIELD; an index on FIELD brought it to # ms.",
		"Rule of the user|The user wants THING to be written in FOLDER and never in FOLDER, with a test like TEST.",
		"Migration of FIELD|Migration # adds FIELD to the table of THING; old rows have NULL there until the job in FILE has run.",
		"Cache of THING|THING is cached for # minutes in STORE under FIELD:v#; a deployment empties it.",
		"Alert of SERVICE|The alert of SERVICE pages PERSON when the error rate passes # percent for # minutes in ENVIRONMENT.",
		"FUNCTION moved|FUNCTION moved from FILE to FILE; callers in FOLDER were changed, those in FOLDER were not.",
		"Leak in SERVICE|SERVICE leaked # MB an hour since FUNCTION never closed its STORE connection; fixed in FILE.",
		"Version of TOOL|TOOL is pinned to 1.# because # breaks FUNCTION; PERSON will look at it after the release.",
		"Queue of THING|THING goes to the topic shop.FIELD.v# with # partitions, keyed by FIELD, and is read by SERVICE.",
		"Approval for THING|THING above # francs needs an approval by PERSON; below that the support may decide.",
		"Backup of STORE|The STORE of SERVICE is saved every # hours; restoring it took # minutes in ENVIRONMENT.",
		"Format of FIELD|FIELD of THING has # characters and is checked by FUNCTION in FILE.",
		"Secret of SERVICE|SERVICE reads its secret from Vault at kv/shop/FIELD in ENVIRONMENT; FILE is for local use.",
		"Refactoring of FOLDER|FUNCTION and FUNCTION were merged in FOLDER; TEST covers both, and the copy in FILE is gone.",
		"Deadlock in SERVICE|FUNCTION and FUNCTION locked THING in different order; both now sort by FIELD first.",
		"Schedule of THING|THING is synchronised at #:# by SERVICE; nobody deploys to ENVIRONMENT meanwhile.",
		"Format von FIELD|Die FIELD von THING hat # Stellen und wird von FUNCTION in FILE geprüft.",
		"Regel für THING|THING kostet # Franken, ab # Franken ist es gratis; PERSON pflegt die Regel in FILE.",
		"Panne von SERVICE|SERVICE fiel in ENVIRONMENT # Minuten aus, weil STORE voll war; PERSON hat es behoben.",
		"Délai de THING|THING expire après # jours; SERVICE envoie un rappel avant, voir FILE.",
	}
}

// blank is a name in templates, and the words that may stand there.
type blank struct {
	name  string
	words []string
}

// vocabulary returns the words of each blank. A name that begins with another one precedes it.
func vocabulary() []blank {
	return []blank{
		{"SERVICE", []string{"billing", "catalog", "shipping", "identity", "gateway", "notifications", "warehouse",
			"reporting", "pricing-feed", "returns", "loyalty", "fraud", "media", "search-sync", "ledger", "subscriptions"}},
		{"ENVIRONMENT", []string{"production", "staging", "the test environment", "development", "the preview environment",
			"CI"}},
		{"TEST", []string{"TestInvoiceTotals", "TestCartExpiry", "TestLoginThrottle", "TestRefundPartial", "TestStockImport",
			"TestMailQueue", "TestOrderSplit", "TestTaxTable", "TestSearchFacets", "TestSessionRenewal", "TestExportCsv",
			"TestWebhookReplay"}},
		{"STORE", []string{"Redis key", "Postgres schema", "S3 bucket", "Kafka topic", "Elasticsearch index", "SQLite file",
			"connection pool", "database", "cache"}},
		{"THING_FLAG", []string{"loyalty_v2", "fast_checkout", "new_invoice", "split_orders", "guest_cart", "bulk_import",
			"dark_mode", "gift_cards"}},
		{"THING", []string{"orders", "invoices", "vouchers", "customers", "addresses", "reviews", "stock levels",
			"price lists", "shipments", "subscriptions", "gift cards", "wish lists", "product images", "email templates",
			"search synonyms", "tax tables", "newsletters", "returns"}},
		{"PERSON", []string{"Ana Ruiz", "Tom Berger", "Priya Nair", "Jonas Weber", "Lea Martin", "Olu Adeyemi", "Yuki Tanaka",
			"Sara Lindt", "Marek Nowak", "Chloe Dubois"}},
		{"FOLDER", []string{"services/billing/", "apps/web/", "packages/money/", "tools/import/", "db/seed/",
			"proto/catalog/", "infra/modules/", "mail/partials/", "web/src/hooks/", "jobs/nightly/"}},
		{"FILE", []string{"services/billing/invoice.go", "apps/web/cart.tsx", "jobs/nightly/stock.py",
			"packages/money/round.ts", "infra/main.tf", "web/src/api.ts", "services/returns/handler.go", "tools/import/csv.rb",
			"db/seed/customers.sql", "middleware/session.ts", "docs/runbooks/deploy.md"}},
		{"FUNCTION", []string{"computeTotals", "loadCart", "mergeAddresses", "parse_price", "renderInvoice", "syncStock",
			"validateVoucher", "fetch_rates", "splitOrder", "sendReminder", "hashToken", "getOrderLines"}},
		{"FIELD", []string{"customer_id", "order_no", "sku", "postal_code", "created_at", "currency", "voucher_code",
			"tracking_no", "tax_rate", "warehouse_id", "locale", "session_id"}},
		{"TOOL", []string{"pnpm", "buf", "just", "terraform", "golangci-lint", "sqlc", "vitest", "playwright", "alembic",
			"helm"}},
		{"ERROR", []string{"ECONNRESET", "context deadline exceeded", "index out of range [2] with length 2",
			"duplicate key value", "ERR_INVALID_ARG_TYPE", "permission denied", "nil pointer dereference", "out of memory",
			"TypeError: undefined is not a function", "AccessDenied", "broken pipe"}},
	}
}

// grams is an embedder for tests: the same texts always have the same vectors, and texts have
// near ones that share parts of words, so that other forms of a word count, or words for one
// thing, of which it knows some. Words that all texts have count little.
type grams struct {
	dimension int
	things    map[string]string
}

func newGrams(dimension int) grams {
	g := grams{dimension, map[string]string{}}
	for _, group := range synonyms() {
		words := strings.Fields(group)
		for _, word := range words {
			g.things[word] = words[0]
		}
	}
	return g
}

// synonyms returns lists of words with one meaning, one per line. The list of "" has stop words.
func synonyms() []string {
	return []string{
		"price prices amount amounts money cost costs sum sums total totals fee",
		"slow fast speed quick latency slowly performance sped",
		"picture pictures image images photo photos thumbnail thumbnails",
		"width widths size sizes pixels dimension dimensions resolution",
		"phone phones telephone telephones",
		"crash crashed panic panicked panics exception",
		"error errors fail fails failed failure failing broken complains problem bug",
		"leak leaked leaks memory heap gigabytes",
		"folder folders directory directories layout structure below",
		"deploy deployed deploys deployment deployments release releases rollout rolled ship canary",
		"review reviews reviewer reviewed approve approval approvals approved owner owns ownership",
		"delete deleted deleting remove removed drop dropped clear cleared clears",
		"timeout timeouts deadline deadlines late wait",
		"container containers docker",
		"limit limits rate throttle throttled throttling maximum",
		"mail mails email emails letter",
		"config configuration configured settings set defaults default",
		"refactor refactored rewrite rewritten change changed changes modify touch",
		"unavailable down outage unreachable offline",
		"forbidden never disallowed prohibited mustn't banned",
		"script command commands run runs recipe",
		"rebuild rebuilt reindex reindexing regenerate regenerated generated generate",
		"test tests testing tested",
		"flaky unstable sometimes flake intermittent",
		"cookie cookies session sessions login",
		"hash hashed hashing hashes checksum",
		"https tls certificate certificates ssl",
		"vat tax taxes",
		"port ports listens listen",
		"telephone call calls",
		"shutdown terminate termination terminated stop stopped ended kill killed sigterm sigkill",
		"customer customers client clients buyer",
		"language languages translation translations translated locale i18n",
		"pagination page pages paging cursor",
		"lock locks locked locking deadlock deadlocked",
		"accessibility accessible axe labels label",
		"pod pods kubernetes",
		"restore restoring restored backup backups drill exercise",
		"country countries national switzerland",
		"time times schedule window hour hours minute minutes seconds long",
		"currency currencies chf eur usd francs",
		"format formats form forms kind",
		"secret secrets key keys password passwords credential vault",
		"reason why because since cause",
		"name named called names convention",
		"cache cached caching invalidate invalidation",
		"allow allowed may permitted can",
		"upgrade update updated version versions pinned",
		"warehouse stock inventory almacén lager",
		"order orders pedidos bestellung",
		"ask the a an and or is are was were it of to in on at for from with by as do does did have has what which who where how we i our this that be not they there der die das den ist und wie wo",
	}
}

func (g grams) Model() string { return fmt.Sprintf("grams-%d", g.dimension) }

func (g grams) Embed(_ context.Context, texts []string) ([][]float32, error) {
	var all [][]float32
	for _, text := range texts {
		v := make([]float32, g.dimension)
		for _, word := range strings.FieldsFunc(strings.ToLower(text),
			func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }) {
			g.add(v, word)
		}
		all = append(all, v)
	}
	return all, nil
}

// add adds what a word is for, and its parts.
func (g grams) add(v []float32, word string) {
	thing := g.things[word]
	if thing == "ask" {
		return
	}
	letters := []rune("<" + word + ">")
	weight := 1 / math.Sqrt(float64(3*len(letters)))
	if thing != "" {
		g.put(v, "="+thing, 1)
		weight /= 2
	}
	for size := min(3, len(letters)); size <= min(5, len(letters)); size++ {
		for i := 0; i+size <= len(letters); i++ {
			g.put(v, string(letters[i:i+size]), weight)
		}
	}
}

func (g grams) put(v []float32, part string, weight float64) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(part))
	sum := h.Sum64()
	if sum&1 == 1 {
		weight = -weight
	}
	v[(sum>>1)%uint64(g.dimension)] += float32(weight)
}
