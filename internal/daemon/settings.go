package daemon

import (
	"time"

	"cw/internal/cw"
)

// Settings is the daemon's configuration: what $CW_HOME/config.yaml and the
// environment say, with the defaults for the rest. A field's `config` tag is
// its key there.
type Settings struct {
	HTTP    HTTPSettings    `config:"http"`
	Log     LogSettings     `config:"log"`
	Metrics MetricsSettings `config:"metrics"`
	Events  EventSettings   `config:"events"`
	Run     RunSettings     `config:"run"`
	Disk    DiskSettings    `config:"disk"`
	Runs    RunsSettings    `config:"runs"`
	Chunks  ChunkSettings   `config:"chunks"`
	Budgets BudgetSettings  `config:"budgets"`

	Questions QuestionSettings `config:"questions"`
	Dispatch  DispatchSettings `config:"dispatch"`
	Notify    NotifySettings   `config:"notify"`
}

// HTTPSettings is how dashboards reach the daemon.
type HTTPSettings struct {
	Address        string   `config:"address"`        // host:port on loopback; "": no TCP
	AllowedOrigins []string `config:"allowedOrigins"` // exact origins of foreign pages that may call
	AllowedHosts   []string `config:"allowedHosts"`   // names for this machine beside 127.0.0.1, [::1] and localhost
}

// LogSettings is what daemon.log holds.
type LogSettings struct {
	Level   string `config:"level"`   // debug, info, warn, error
	Format  string `config:"format"`  // text, json
	MaxSize int    `config:"maxSize"` // MiB, before it is rotated
	Backups int    `config:"backups"` // rotated files that are kept
}

// MetricsSettings is whether /metrics is served.
type MetricsSettings struct {
	Enabled bool `config:"enabled"`
}

// EventSettings is how long events are kept.
type EventSettings struct {
	Retention time.Duration `config:"retention"`
}

// RunSettings are the defaults of new agents.
type RunSettings struct {
	Provider string     `config:"provider"` // "": the first installed of claude and codex
	Model    string     `config:"model"`    // "": the CLI's own
	Sandbox  cw.Sandbox `config:"sandbox"`
}

// DiskSettings is the free space below which no run is started: the smaller of
// both.
type DiskSettings struct {
	MinFree        Bytes `config:"minFree"`
	MinFreePercent int   `config:"minFreePercent"` // of the disk's size
}

// RunsSettings is how much runs may write, and how long their files are kept.
type RunsSettings struct {
	MaxOutput    Bytes         `config:"maxOutput"`    // raw output of one run
	RawRetention time.Duration `config:"rawRetention"` // raw output that is stored in chunks
}

// BudgetSettings is what becomes of runs that budgets cannot hold.
type BudgetSettings struct {
	Unpriced string `config:"unpriced"` // warn, stop
}

// The values of budgets.unpriced.
const (
	unpricedWarn = "warn"
	unpricedStop = "stop"
)

// ChunkSettings is how long stored output is kept.
type ChunkSettings struct {
	MaxSize Bytes         `config:"maxSize"`
	MinAge  time.Duration `config:"minAge"` // younger output does not go for the size
	MaxAge  time.Duration `config:"maxAge"`
}

// QuestionSettings is how long questions may wait for people; 0: for ever.
type QuestionSettings struct {
	RemindAfter time.Duration `config:"remindAfter"` // then it is said, and again after twice that, and so on
	ExpireAfter time.Duration `config:"expireAfter"` // then it is withdrawn
}

// DispatchSettings is how many agents work on tasks at once, and what becomes of
// tasks that fail.
type DispatchSettings struct {
	Machine    int   `config:"machine"`    // agents with a process; 0: from cores and memory
	Provider   int   `config:"provider"`   // of one provider; 0: no limit, and so below
	Account    int   `config:"account"`    // of one account
	Project    int   `config:"project"`    // in one project
	Initiative int   `config:"initiative"` // of one initiative
	KeepFree   Bytes `config:"keepFree"`   // memory that no agent is started into
	Retries    int   `config:"retries"`    // of a task that failed
	HandBacks  int   `config:"handBacks"`  // of work that conflicts, and of work whose checks fail
	Checks     int   `config:"checks"`     // merges that are checked at once
}

// NotifySettings is how people are told of events, and of which.
type NotifySettings struct {
	Webhook    string   `config:"webhook"`    // URL; "": none
	SecretFile string   `config:"secretFile"` // absolute path of the key; "": nothing is signed
	Command    []string `config:"command"`    // program with its arguments; empty: none
	Events     []string `config:"events"`     // types of events
}

// DefaultSettings is what holds where nobody said otherwise.
func DefaultSettings() Settings {
	return Settings{
		Log:    LogSettings{Level: "info", Format: "text", MaxSize: 10, Backups: 3},
		Events: EventSettings{Retention: 30 * 24 * time.Hour},
		Run:    RunSettings{Sandbox: cw.SandboxOff},
		Disk:   DiskSettings{MinFree: gib, MinFreePercent: 2},
		Runs:   RunsSettings{MaxOutput: gib, RawRetention: 14 * day},
		Chunks: ChunkSettings{MaxSize: 10 * gib, MinAge: 7 * day, MaxAge: 180 * day},

		Budgets: BudgetSettings{Unpriced: unpricedWarn},

		Questions: QuestionSettings{RemindAfter: 15 * time.Minute},
		Dispatch:  DispatchSettings{KeepFree: 512 << 20, Retries: 1, HandBacks: 2, Checks: 1},
		Notify:    NotifySettings{Events: noticeEvents()},
	}
}
