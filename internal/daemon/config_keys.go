package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"cw/internal/cw"
	"cw/internal/notify"
)

// Key is one setting: what it is called, what it may be and what it does.
type Key struct {
	Name    string // as in config.yaml, section and name with a dot between
	Form    Form
	Text    string // what it does, one sentence
	Example string // a value, as `cw config set` takes it
	Since   string // the version that has it first
}

// Variable is the environment variable that overrides the file.
func (k Key) Variable() string {
	return VariablePrefix + strings.ToUpper(strings.ReplaceAll(k.Name, ".", "_"))
}

// VariablePrefix begins the variables that are configuration. No other CW_*
// variable is.
const VariablePrefix = "CW_CONFIG_"

// Form says what values a setting takes.
type Form struct {
	Kind    string // "text", "number", "switch", "time", "size" or "list"
	Allowed string // in words
	parse   func(word string) (any, error)
}

// List tells whether the value is several words.
func (f Form) List() bool { return f.Kind == "list" }

// Keys are all settings, in the order of the document. The table drives
// loading, checking, `cw config` and docs/configuration.md.
func Keys() []Key {
	return []Key{
		{"http.address", Form{"text", "an address of this machine alone with a port: 127.0.0.1:PORT, [::1]:PORT or localhost:PORT; port 0 takes any free one; empty: no TCP", text(checkAddress)},
			"Where dashboards reach the daemon over TCP, beside its socket.", "127.0.0.1:7420", "0.1"},
		{"http.allowedOrigins", Form{"list", "origins exactly as browsers send them: http:// or https://, a host, and the port unless it is the usual one", text(checkOrigin)},
			"Pages of other origins that may call the daemon over TCP. A token is needed all the same.", "http://127.0.0.1:5173,http://localhost:5173", "0.1"},
		{"http.allowedHosts", Form{"list", "host names in lower case, without a port", text(checkHost)},
			"Names under which requests over TCP may reach this machine, beside 127.0.0.1, [::1] and localhost.", "dev.internal", "0.1"},
		{"log.level", words("debug", "info", "warn", "error"),
			"The least important lines that daemon.log holds. With debug every request is one.", "debug", "0.1"},
		{"log.format", words("text", "json"),
			"How a line of daemon.log is written.", "json", "0.1"},
		{"log.maxSize", number(1, 1024),
			"The size of daemon.log, in MiB, at which a new file is begun.", "50", "0.1"},
		{"log.backups", number(1, 100),
			"How many older files of the log are kept.", "5", "0.1"},
		{"metrics.enabled", Form{"switch", "true or false", truth},
			"Whether GET /metrics answers, in the form of Prometheus.", "true", "0.1"},
		{"events.retention", span(time.Hour, 10*365*day),
			"How long events are kept. Who asks for an older one is told to read the state anew.", "90d", "0.1"},
		{"run.provider", Form{"text", "the name of a provider; empty: the first installed of claude and codex", text(checkName)},
			"The provider of new agents for which nobody names one.", "codex", "0.1"},
		{"run.model", Form{"text", "a model's name as the CLI takes it, at most 200 characters; empty: the CLI's own", text(checkModel)},
			"The model of new agents for which nobody names one.", "claude-sonnet-4-5", "0.1"},
		{"run.sandbox", words(string(cw.SandboxOff), string(cw.SandboxWorkspace)),
			"Whether the CLI's own sandbox confines new agents. A provider that has none refuses it.", "workspace", "0.1"},
		{"disk.minFree", bytesOf(16*mib, tib),
			"The free space below which no run is started, unless disk.minFreePercent is less. Runs that go on are not touched.", "5GiB", "0.1"},
		{"disk.minFreePercent", number(1, 50),
			"The same as a part of the disk's size: the smaller of both holds, so that small disks can be used.", "5", "0.1"},
		{"runs.maxOutput", bytesOf(16*mib, tib),
			"How much output one run may write. A run that reaches it is ended; what it wrote before is kept.", "4GiB", "0.1"},
		{"runs.rawRetention", span(day, 10*365*day),
			"How long the raw output file of a run is kept after its end. What it holds is stored in log.db.", "30d", "0.1"},
		{"chunks.maxSize", bytesOf(64*mib, 64*tib),
			"How large the stored output may become. Beyond it whole runs older than chunks.minAge go, oldest first, never those of agents that run.", "50GiB", "0.1"},
		{"chunks.minAge", span(time.Hour, 10*365*day),
			"How long stored output is kept at least after the end of its run, however much others write: chunks.maxAge alone is stronger.", "30d", "0.1"},
		{"chunks.maxAge", span(day, 10*365*day),
			"How long stored output is kept after the end of its run.", "365d", "0.1"},
		{"budgets.unpriced", words(unpricedWarn, unpricedStop),
			"What becomes of a run that counts for a budget and uses a model without a price. With warn its agent gets a warning; with stop it is ended as when the budget is spent: one short last run, then the agent is stopped.", "stop", "0.1"},
		{"questions.remindAfter", spanOrNever(time.Minute, 365*day),
			"How long a question waits for people before the event question:reminded says so; it is said again after twice that time, four times, and so on. 0: never.", "1h", "0.1"},
		{"questions.expireAfter", spanOrNever(time.Minute, 365*day),
			"How long a question waits for people before it is withdrawn, and its agent told that nobody answered. 0: it waits for ever.", "2d", "0.1"},
		{"dispatch.machine", number(0, 1000),
			"How many agents may have a process on this machine before no task is started; 0: two for each core, and no more than one for each 1.5 GiB of memory.", "8", "0.1"},
		{"dispatch.provider", number(0, 1000),
			"The same for agents of one provider; 0: no limit.", "4", "0.1"},
		{"dispatch.account", number(0, 1000),
			"The same for agents of one account; 0: no limit.", "2", "0.1"},
		{"dispatch.project", number(0, 1000),
			"The same for agents in one project; 0: no limit.", "4", "0.1"},
		{"dispatch.initiative", number(0, 1000),
			"The same for agents of one initiative; 0: no limit.", "4", "0.1"},
		{"dispatch.keepFree", bytesOf(mib, tib),
			"The memory that stays free: no task is started when its agent would need some of it. One agent may always work.", "1GiB", "0.1"},
		{"dispatch.retries", number(0, 20),
			"How often a task that failed for a reason of its own is started again by itself, with a new agent.", "2", "0.1"},
		{"dispatch.handBacks", number(0, 20),
			"How often work that conflicts goes back to its agent, and work whose checks fail, before a person has to look.", "3", "0.1"},
		{"dispatch.checks", number(1, 64),
			"How many merges are checked at once.", "2", "0.1"},
		{"notify.webhook", Form{"text", "a URL: https, or http on this machine alone; no password in it; empty: none", text(notify.CheckURL)},
			"Where a request is sent when people are to be told of something.", "https://example.com/cw", "0.1"},
		{"notify.secretFile", Form{"text", "an absolute path of a file that only you can read (mode 0600), with 16 bytes to 4 KiB; empty: requests are not signed", text(checkSecretFile)},
			"The file with the key that signs those requests. It is read for each of them.", "/home/me/.config/cw-webhook.key", "0.1"},
		{"notify.command", Form{"list", "a program and its arguments, run without a shell; empty: none", text(checkArgument)},
			"What is run when people are to be told of something, with the event as JSON on its stdin.", "/home/me/bin/tell-me", "0.1"},
		{"notify.events", Form{"list", "types of events that are stored, as docs/events.md lists them", text(checkNoticeEvent)},
			"What people are told of.", "question:requested,agent:crashed,agent:stopped", "0.1"},
	}
}

// keyOf finds a setting by its name.
func keyOf(name string) (Key, bool) {
	keys := Keys()
	i := slices.IndexFunc(keys, func(k Key) bool { return k.Name == name })
	if i < 0 {
		return Key{}, false
	}
	return keys[i], true
}

// parse reads a value as the environment and the command line have it: a list
// is words with commas between, or JSON where an item holds a comma. The error
// goes on after the value.
func (k Key) parse(value string) (any, error) {
	if !k.Form.List() {
		return k.Form.parse(value)
	}
	if strings.HasPrefix(value, "[") {
		var items []string
		if err := json.Unmarshal([]byte(value), &items); err != nil {
			return nil, errors.New(`begins like a JSON list and is none: such has its texts in quotes, like ["a","b"]`)
		}
		return k.parseItems(items)
	}
	items := []string{}
	for item := range strings.SplitSeq(value, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return k.parseItems(items)
}

func (k Key) parseItems(items []string) (any, error) {
	for _, item := range items {
		if _, err := k.Form.parse(item); err != nil {
			return nil, fmt.Errorf("holds %q, which %w", item, err)
		}
	}
	return items, nil
}

func text(check func(string) error) func(string) (any, error) {
	return func(word string) (any, error) { return word, check(word) }
}

func words(allowed ...string) Form {
	said := strings.Join(allowed[:len(allowed)-1], ", ") + " or " + allowed[len(allowed)-1]
	return Form{"text", said, func(word string) (any, error) {
		if !slices.Contains(allowed, word) {
			return nil, fmt.Errorf("is not %s", said)
		}
		return word, nil
	}}
}

func number(least, most int) Form {
	said := fmt.Sprintf("a whole number from %d to %d", least, most)
	return Form{"number", said, func(word string) (any, error) {
		n, err := strconv.Atoi(word)
		if err != nil || n < least || n > most {
			return nil, fmt.Errorf("is not %s", said)
		}
		return n, nil
	}}
}

func truth(word string) (any, error) {
	switch word {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return nil, fmt.Errorf("is not true or false")
}

const day = 24 * time.Hour

func span(least, most time.Duration) Form {
	said := fmt.Sprintf("a time like 720h, 90m or 30d, from %s to %s", formatSpan(least), formatSpan(most))
	return Form{"time", said, func(word string) (any, error) {
		d, err := parseSpan(word)
		if err != nil || d < least || d > most {
			return nil, fmt.Errorf("is not %s", said)
		}
		return d, nil
	}}
}

// spanOrNever is span with 0 for never.
func spanOrNever(least, most time.Duration) Form {
	f := span(least, most)
	f.Allowed += "; 0: never"
	inner := f.parse
	f.parse = func(word string) (any, error) {
		if word == "0" || word == "0s" {
			return time.Duration(0), nil
		}
		d, err := inner(word)
		if err != nil {
			return nil, fmt.Errorf("%w, or 0 for never", err)
		}
		return d, nil
	}
	return f
}

// parseSpan reads a time with a unit: whole days (30d), or what Go reads.
func parseSpan(word string) (time.Duration, error) {
	days, ok := strings.CutSuffix(word, "d")
	if !ok {
		return time.ParseDuration(word)
	}
	n, err := strconv.ParseUint(days, 10, 16) // so many days cannot overflow
	return time.Duration(n) * day, err
}

func formatSpan(d time.Duration) string {
	if d != 0 && d%day == 0 {
		return strconv.Itoa(int(d/day)) + "d"
	}
	out := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(out, zero) {
			out = strings.TrimSuffix(out, zero[1:])
		}
	}
	return out
}

// checkAddress takes loopback, said literally, alone.
func checkAddress(word string) error {
	if word == "" {
		return nil
	}
	host, port, err := net.SplitHostPort(word)
	if err != nil {
		return fmt.Errorf("is not HOST:PORT, like 127.0.0.1:7420")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return fmt.Errorf("has no port from 0 to 65535")
	}
	if host == "localhost" {
		return nil
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || !ip.IsLoopback() || ip.Is4In6() || ip.Zone() != "" {
		return fmt.Errorf("is not this machine alone: others could reach it, which needs TLS and identities, and cw has neither yet; take 127.0.0.1, [::1] or localhost")
	}
	return nil
}

// checkOrigin takes an origin as browsers send it, so that it can be compared
// byte by byte.
func checkOrigin(word string) error {
	const form = "is not an origin like http://127.0.0.1:5173 (lower case, no path, no *, no usual port)"
	u, err := url.Parse(word)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return fmt.Errorf("%s", form)
	}
	if word != u.Scheme+"://"+u.Host || word != strings.ToLower(word) || !hostForm().MatchString(u.Hostname()) && !isIPv6(u.Hostname()) {
		return fmt.Errorf("%s", form)
	}
	port := u.Port()
	n, err := strconv.ParseUint(port, 10, 16)
	usual := u.Scheme == "http" && n == 80 || u.Scheme == "https" && n == 443
	if strings.HasSuffix(u.Host, ":") || port != "" && (err != nil || n == 0 || usual || strconv.FormatUint(n, 10) != port) {
		return fmt.Errorf("%s", form)
	}
	return nil
}

func isIPv6(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Is6() && ip.Zone() == "" && ip.String() == host
}

var hostForm = cw.Pattern(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`)

func checkHost(word string) error {
	if len(word) > 253 || !hostForm().MatchString(word) {
		return fmt.Errorf("is not a host name in lower case, without a port")
	}
	return nil
}

var nameForm = cw.Pattern(`^[a-z0-9][a-z0-9-]{0,62}$`)

func checkName(word string) error {
	if word != "" && !nameForm().MatchString(word) {
		return fmt.Errorf("is not a provider's name (small letters, digits and -)")
	}
	return nil
}

var modelForm = cw.Pattern(`^([[:alnum:]][[:graph:]]{0,199})?$`)

func checkModel(word string) error {
	if !modelForm().MatchString(word) {
		return fmt.Errorf("is not a model's name (at most 200 characters, no spaces, no - before it)")
	}
	return nil
}
