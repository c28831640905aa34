package cw

import (
	"crypto/rand"
	"fmt"
	"math/big"
)

// AliasMax is the greatest length of an alias in bytes.
const AliasMax = 40

// aliasPattern is what an alias may look like: it becomes a folder, a branch
// name and an argument, so it starts with a letter and holds nothing special.
var aliasPattern = Pattern(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// ValidAlias tells whether s may be an agent's alias, with the reason if not.
// Example: "brave-otter".
func ValidAlias(s string) error {
	if len(s) > AliasMax || !aliasPattern().MatchString(s) {
		return Errorf(CodeInvalid, "%q cannot be an agent's name", s).
			WithHint("use small letters, digits and single hyphens, at most %d characters, like brave-otter", AliasMax)
	}
	if IsID(s) {
		return Errorf(CodeInvalid, "%q looks like an id and cannot be a name", s).WithHint("choose another name, like brave-otter")
	}
	return nil
}

// aliasTries is how many plain pairs are tried before names are numbered.
const aliasTries = 40

// NewAlias picks a free adjective-animal pair; when free ones are hard to find
// the pair gets a number, so that it always ends.
func NewAlias(taken func(alias string) (bool, error)) (string, error) {
	for try := 0; ; try++ {
		alias := pick(aliasAdjectives()) + "-" + pick(aliasAnimals())
		if try >= aliasTries {
			alias = fmt.Sprintf("%s-%d", alias, try-aliasTries+2)
		}
		used, err := taken(alias)
		if err != nil {
			return "", fmt.Errorf("look for a free alias: %w", err)
		}
		if !used {
			return alias, nil
		}
	}
}

func pick(words []string) string {
	n, err := rand.Int(rand.Reader, big.NewInt(int64(len(words))))
	if err != nil { // cannot happen: see NewID
		return words[0]
	}
	return words[n.Int64()]
}

func aliasAdjectives() []string {
	return []string{
		"able", "agile", "amber", "apt", "bold", "brave", "bright", "brisk", "calm", "candid",
		"careful", "cheerful", "civil", "clear", "clever", "cosy", "crisp", "curious", "daring", "deft",
		"eager", "earnest", "easy", "even", "exact", "fair", "faithful", "fancy", "fine", "firm",
		"fleet", "fond", "frank", "free", "fresh", "gentle", "glad", "golden", "grand", "green",
		"handy", "happy", "hardy", "honest", "humble", "jolly", "keen", "kind", "lively", "loyal",
		"lucid", "lucky", "mellow", "merry", "mild", "modest", "neat", "nimble", "noble", "patient",
		"plain", "plucky", "polite", "prime", "proud", "prompt", "pure", "quick", "quiet", "rapid",
		"ready", "robust", "rosy", "royal", "sage", "sharp", "silent", "silver", "simple", "sleek",
		"smart", "snug", "sober", "solid", "sound", "spry", "stable", "stark", "steady", "still",
		"stout", "strong", "sunny", "sure", "swift", "tender", "tidy", "tough", "true", "vivid",
		"warm", "wary", "whole", "wise", "witty", "young", "zesty",
	}
}

func aliasAnimals() []string {
	return []string{
		"adder", "alpaca", "antelope", "badger", "bat", "bear", "beaver", "bee", "bison", "boar",
		"bobcat", "buffalo", "bunting", "camel", "caribou", "cat", "cheetah", "chough", "cod", "condor",
		"cougar", "crab", "crane", "cricket", "crow", "curlew", "deer", "dingo", "dolphin", "donkey",
		"dove", "dragonfly", "duck", "eagle", "egret", "elk", "ermine", "falcon", "ferret", "finch",
		"fox", "frog", "gazelle", "gecko", "goat", "goose", "grouse", "gull", "hare", "hawk",
		"hedgehog", "heron", "hornet", "horse", "ibex", "ibis", "jackal", "jaguar", "jay", "kestrel",
		"kite", "kiwi", "koala", "lark", "lemur", "leopard", "linnet", "lion", "llama", "lobster",
		"lynx", "magpie", "marten", "marmot", "mink", "mole", "moose", "moth", "mouse", "mule",
		"narwhal", "newt", "ocelot", "octopus", "orca", "osprey", "otter", "owl", "ox", "panda",
		"panther", "parrot", "pelican", "penguin", "pigeon", "plover", "pony", "puffin", "puma", "quail",
		"rabbit", "raccoon", "ram", "raven", "robin", "salmon", "seal", "serval", "shark", "shrew",
		"skunk", "sloth", "snipe", "sparrow", "squid", "squirrel", "stoat", "stork", "swallow", "swan",
		"tapir", "tern", "thrush", "tiger", "toad", "trout", "turtle", "viper", "vole", "walrus",
		"weasel", "whale", "wolf", "wombat", "wren", "yak", "zebra",
	}
}
