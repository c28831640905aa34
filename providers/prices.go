package providers

import (
	_ "embed" // prices.yaml
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"cw/internal/cw"
)

//go:embed prices.yaml
var embeddedPrices []byte

const (
	// pricesMax is how large a file of prices may be, in bytes.
	pricesMax = 256 << 10
	// priceMost is the greatest price that is taken, in dollars for a million
	// tokens: a thousand times as much is a slip of the pen.
	priceMost = 10_000
	// perTokens is how many tokens a price is for.
	perTokens = 1e6
	// hourWrite is what a cache write for an hour costs, of one for five minutes,
	// where the table does not say it: as Anthropic has it.
	hourWrite = 1.6
)

// Price is what tokens of a model cost, in US dollars for a million.
type Price struct {
	Model      string  // a pattern of names, with * and [ab]
	Input      float64 // tokens read, without the cache
	Output     float64 // tokens written, reasoning among them
	CacheRead  float64
	CacheWrite float64 // for five minutes, where there is more than one time

	CacheWriteHour float64 // for an hour
}

// Prices is a table of list prices: the embedded one, and before it a file of
// the user. The zero value knows no model. It is never changed.
type Prices struct{ rows []Price }

// LoadPrices reads the embedded table, and before it the user's file, which need
// not be there. One that is wrong is a Problem, and the embedded table alone
// counts. file "" reads the embedded table alone.
func LoadPrices(file string) (Prices, *Problem) {
	embedded, problem := decodePrices(embeddedPrices)
	if problem != nil { // a test holds that there is none
		problem.File = "prices.yaml"
		return Prices{}, problem
	}
	own, problem := readPrices(file)
	if problem != nil {
		problem.File = file
		return Prices{embedded}, problem
	}
	return Prices{append(own, embedded...)}, nil
}

// readPrices reads a file of the user, and nothing when there is none.
func readPrices(file string) ([]Price, *Problem) {
	if file == "" {
		return nil, nil
	}
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err == nil && !info.Mode().IsRegular():
		return nil, &Problem{Message: "it is no regular file"}
	case err == nil && info.Size() > pricesMax:
		return nil, &Problem{Message: fmt.Sprintf("it is larger than %d bytes", pricesMax)}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, &Problem{Message: err.Error()}
	}
	return decodePrices(data)
}

// decodePrices reads a table, strictly.
func decodePrices(data []byte) (rows []Price, problem *Problem) {
	defer func() {
		// As in decodePreset: a person's file and outside code.
		if r := recover(); r != nil {
			rows, problem = nil, &Problem{Message: fmt.Sprintf("it cannot be read as YAML: %v", r)}
		}
	}()
	root, problem := parseYAML(data)
	if problem != nil || root == nil {
		return nil, problem
	}
	if root.Kind != yaml.MappingNode {
		return nil, problemAt(root, "it takes a mapping with the key prices")
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if key := root.Content[i]; key.Value != "prices" {
			return nil, problemAt(key, "unknown key %q; did you mean \"prices\"?", key.Value)
		}
	}
	_, list := entry(root, "prices")
	if list == nil || isNull(list) {
		return nil, nil
	}
	if list.Kind != yaml.SequenceNode {
		return nil, problemAt(list, "it takes a list of prices")
	}
	for _, node := range list.Content {
		price, problem := decodePrice(node)
		if problem != nil {
			return nil, problem
		}
		rows = append(rows, price)
	}
	return rows, nil
}

// decodePrice reads one row. What is not said of the cache costs as much as
// without it: an estimate is rather too high than too low.
func decodePrice(node *yaml.Node) (Price, *Problem) {
	var p Price
	if node.Kind != yaml.MappingNode {
		return p, problemAt(node, "a price is a mapping with model, input and output")
	}
	fields := map[string]*float64{"input": &p.Input, "output": &p.Output, "cacheRead": &p.CacheRead, "cacheWrite": &p.CacheWrite, "cacheWriteHour": &p.CacheWriteHour}
	said := map[string]bool{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		field, known := fields[key.Value]
		switch {
		case key.Value == "model":
			if p.Model = dashed(strings.ToLower(value.Value)); value.Kind != yaml.ScalarNode || !goodPattern(p.Model) {
				return p, problemAt(value, "model takes a name, with * for any characters")
			}
		case !known:
			return p, problemAt(key, "unknown key %q; there are model, input, output, cacheRead, cacheWrite and cacheWriteHour", key.Value)
		default:
			amount, err := strconv.ParseFloat(value.Value, 64)
			if err != nil || math.IsNaN(amount) || amount < 0 || amount > priceMost {
				return p, problemAt(value, "%s takes US dollars for a million tokens, from 0 to %d", key.Value, priceMost)
			}
			*field = amount
		}
		said[key.Value] = true
	}
	for _, key := range []string{"model", "input", "output"} {
		if !said[key] {
			return p, problemAt(node, "a price needs %s", key)
		}
	}
	if !said["cacheRead"] {
		p.CacheRead = p.Input
	}
	if !said["cacheWrite"] {
		p.CacheWrite = p.Input
	}
	if !said["cacheWriteHour"] {
		p.CacheWriteHour = p.CacheWrite * hourWrite
	}
	return p, nil
}

func goodPattern(pattern string) bool {
	_, err := path.Match(pattern, "")
	return err == nil && pattern != "" && !strings.Contains(pattern, "/")
}

// Of finds the price of a model, as a CLI, a cloud or a person names it.
func (p Prices) Of(model string) (Price, bool) {
	whole, name := wholeModel(model), plainModel(model)
	if name == "" {
		return Price{}, false
	}
	for _, row := range p.rows {
		if row.fits(name) || row.fits(whole) {
			return row, true
		}
	}
	return Price{}, false
}

func (p Price) fits(name string) bool {
	ok, _ := path.Match(p.Model, name) // the pattern was checked
	return ok
}

// Cost is what a model's tokens cost by the table, in US dollars; false when it
// does not know the model, or nothing was counted.
func (p Prices) Cost(model string, u cw.Usage) (usd float64, known bool) {
	price, known := p.Of(model)
	if !known || u == (cw.Usage{}) {
		return 0, false
	}
	tokens := func(n int, price float64) float64 { return float64(max(0, n)) / perTokens * price }
	hour := min(max(0, u.CacheWriteHourTokens), max(0, u.CacheWriteTokens))
	return tokens(u.InputTokens, price.Input) + tokens(u.OutputTokens, price.Output) +
		tokens(u.CacheReadTokens, price.CacheRead) +
		tokens(u.CacheWriteTokens-hour, price.CacheWrite) + tokens(hour, price.CacheWriteHour), true
}

var (
	// modelSuffix is what may follow a model's name: the date of a snapshot, the
	// version that Bedrock has of it, the size of its window.
	modelSuffix = cw.Pattern(`(?:[-@]20\d{6}|-20\d\d-\d\d-\d\d|@default|@latest|-latest|-v\d+(?::\d+)*(?::\d+k)?|\[[^\]]*\])+$`)
	// modelVendor is what Bedrock writes before the name of a model of Anthropic:
	// "anthropic." and before that, for a profile, the regions.
	modelVendor = cw.Pattern(`^(?:[a-z-]+\.)?anthropic\.`)
)

// wholeModel is a model's name without the path before it.
func wholeModel(model string) string {
	model = strings.ToLower(strings.TrimSpace(model))
	return dashed(model[strings.LastIndexByte(model, '/')+1:])
}

// plainModel is a model's name as the table has it:
// "anthropic/claude-x-1-20260101[1m]", "us.anthropic.claude-x-1-20260101-v1:0",
// "claude-x-1@20260101" and "claude-x.1" are claude-x-1.
func plainModel(model string) string {
	model = modelVendor().ReplaceAllString(wholeModel(model), "")
	return dashed(modelSuffix().ReplaceAllString(model, ""))
}

// dashed writes the version in a name of Anthropic with dashes, where some write
// it with dots. Others have dots in the names that they give themselves.
func dashed(model string) string {
	if !strings.HasPrefix(model, "claude-") {
		return model
	}
	return strings.ReplaceAll(model, ".", "-")
}
