package modeltable

import (
	"bufio"
	"compress/gzip"
	_ "embed"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"appserver/platform/pattern"
)

// packed is models.tsv, compressed by gzip.
//
//go:embed models.tsv.gz
var packed string

// Row has the facts about a model. A number that is not known is 0 or nil.
type Row struct {
	// Window is the number of tokens of the longest prompt.
	Window int64
	// Tools, Images and Reasoning are the abilities of the model.
	Tools, Images, Reasoning bool
	// Input, CachedInput and Output are prices of the provider for a million tokens, in US dollars.
	Input, CachedInput, Output *float64
}

// provider has the rows of a provider by folded names.
type provider struct {
	// addresses are hosts, some with the beginning of a path. One that begins with a dot includes the hosts below it.
	addresses []string
	// prefixes of names mean the maker that this provider is. Without prefixes it is no maker.
	prefixes []string
	rows     map[string]Row
	// undated has the rows with the latest date by names without it, and dates these dates.
	undated map[string]Row
	dates   map[string]string
}

// Find returns the row of a model of the provider with an address.
func Find(baseURL, model string) (Row, bool) {
	all := load()
	name := strings.TrimPrefix(fold(model), "models/")
	at := serving(all, baseURL)
	if at != nil {
		if row, ok := at.find(name); ok {
			return row, true
		}
		if len(at.prefixes) > 0 {
			return Row{}, false
		}
	}
	prefix, rest, prefixed := strings.Cut(name, "/")
	if !prefixed {
		rest = name
	}
	for _, p := range all {
		for _, own := range p.prefixes {
			if prefixed && own != prefix {
				continue
			}
			if row, ok := p.find(rest); ok {
				row.Input, row.CachedInput, row.Output = nil, nil, nil
				return row, true
			}
			if !prefixed {
				break
			}
		}
	}
	return Row{}, false
}

// serving returns the provider with an address, or nil.
func serving(all []*provider, baseURL string) *provider {
	u, err := url.Parse(baseURL)
	if err != nil {
		return nil
	}
	host, path := strings.ToLower(u.Hostname()), strings.Trim(u.Path, "/")+"/"
	for _, p := range all {
		for _, address := range p.addresses {
			wanted, below, _ := strings.Cut(address, "/")
			is := wanted == host || wanted[0] == '.' && strings.HasSuffix(host, wanted)
			if is && (below == "" || strings.HasPrefix(path, below+"/")) {
				return p
			}
		}
	}
	return nil
}

// dated matches the date at the end of a name.
var dated = pattern.New(`-(20\d\d-\d\d-\d\d|20\d{6}|latest)$`)

// find returns the row of a folded name.
func (p *provider) find(name string) (Row, bool) {
	if row, ok := p.rows[name]; ok {
		return row, true
	}
	if at := dated().FindStringIndex(name); at != nil {
		if row, ok := p.rows[name[:at[0]]]; ok {
			return row, true
		}
	}
	row, ok := p.undated[name]
	return row, ok
}

// fold returns a name in the form by which rows are found.
func fold(name string) string {
	return strings.NewReplacer(".", "-", "@", "-").Replace(strings.ToLower(strings.TrimSpace(name)))
}

// load returns the providers of the table.
var load = sync.OnceValue(func() []*provider {
	z, err := gzip.NewReader(strings.NewReader(packed))
	if err != nil {
		panic(err) // a test reads the file
	}
	var all []*provider
	for lines := bufio.NewScanner(z); lines.Scan(); {
		line := lines.Text()
		cells := strings.Split(line, "\t")
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "@"):
			all = append(all, &provider{addresses: strings.Fields(cells[1]), prefixes: strings.Fields(cells[2]),
				rows: map[string]Row{}, undated: map[string]Row{}, dates: map[string]string{}})
		default:
			all[len(all)-1].add(cells)
		}
	}
	return all
})

// add adds a row: the name, the window, the abilities, and the prices of input, cached input and output.
func (p *provider) add(cells []string) {
	name := fold(cells[0])
	window, _ := strconv.ParseInt(cells[1], 10, 64) // an empty cell is 0
	row := Row{Window: window, Tools: strings.Contains(cells[2], "t"), Images: strings.Contains(cells[2], "i"),
		Reasoning: strings.Contains(cells[2], "r"),
		Input:     price(cells[3]), CachedInput: price(cells[4]), Output: price(cells[5])}
	p.rows[name] = row
	at := dated().FindStringIndex(name)
	if at == nil {
		return
	}
	short, date := name[:at[0]], strings.ReplaceAll(name[at[0]+1:], "-", "")
	if date > p.dates[short] {
		p.undated[short], p.dates[short] = row, date
	}
}

func price(cell string) *float64 {
	if n, err := strconv.ParseFloat(cell, 64); err == nil {
		return &n
	}
	return nil
}
