package cw

import (
	"context"
	"time"
)

// How long things are kept.
const (
	TrashKeep      = 7 * 24 * time.Hour  // a removed worktree
	TrashLeast     = 24 * time.Hour      // even when the disk is full
	KeepRefKeep    = 30 * 24 * time.Hour // a snapshot, and at least as long as the agent's row
	MaxStallRetry  = 2                   // runs that may follow stalls by rule
	MaxCommitRetry = 1                   // runs that are asked to commit
	MaxSignalRetry = 1                   // runs that are asked for the signal
)

// Sizes is the space that the parts of a home take, in bytes.
type Sizes struct {
	Runs      int64     `json:"runs" doc:"run directories with the raw output"`
	Worktrees int64     `json:"worktrees" doc:"worktrees and work folders of agents"`
	Trash     int64     `json:"trash" doc:"removed worktrees"`
	Mirrors   int64     `json:"mirrors" doc:"cw's own copies of repositories; files shared with yours count"`
	Backups   int64     `json:"backups" doc:"copies of the databases"`
	At        time.Time `json:"at" doc:"when it was measured"`
}

// GarbageKind says what a piece of garbage is.
type GarbageKind string

// The kinds.
const (
	GarbageTrash   GarbageKind = "trash"    // a removed worktree
	GarbageRaw     GarbageKind = "raw"      // raw output of a run, which is stored in chunks
	GarbageChunks  GarbageKind = "chunks"   // stored output of whole runs
	GarbageKeepRef GarbageKind = "keep_ref" // a snapshot
	GarbageBackup  GarbageKind = "backup"   // an old copy of a database
	GarbageBinary  GarbageKind = "binary"   // a copy of the program that no run uses
	GarbageDebris  GarbageKind = "debris"   // what a killed step left half done
	GarbageBranch  GarbageKind = "branch"   // a merged branch agent/NAME in a repository
)

// Garbage is something that may go, or must not go yet.
type Garbage struct {
	Kind   GarbageKind `json:"kind" doc:"what it is"`
	Agent  string      `json:"agent,omitempty" doc:"name of its agent"`
	Path   string      `json:"path,omitempty" doc:"where it is"`
	Bytes  int64       `json:"bytes" doc:"space it takes"`
	Goes   bool        `json:"goes" doc:"it goes, or went; else it stays"`
	Reason string      `json:"reason" doc:"why it goes or stays, for people"`
	Error  string      `json:"error,omitempty" doc:"why it could not go"`
}

// GCRequest asks for a clean-up of what is kept no longer.
type GCRequest struct {
	DryRun   bool   `json:"dryRun,omitempty" doc:"only tell what would go"`
	Branches bool   `json:"branches,omitempty" doc:"also delete branches agent/NAME of the repositories that are merged into another branch"`
	Agent    string `json:"agent,omitempty" doc:"name of an agent: only its branches are looked at, and nothing else is cleaned up; needs branches"`
}

// GCReport is what a clean-up freed, or would free.
type GCReport struct {
	DryRun     bool      `json:"dryRun" doc:"nothing was done"`
	Items      []Garbage `json:"items" doc:"what goes, and what was looked at and stays"`
	FreedBytes int64     `json:"freedBytes" doc:"space that is, or would be, free"`
}

// BackupRequest asks for a copy of the databases.
type BackupRequest struct {
	Path string `json:"path" doc:"absolute path of the copy of cw.db; it must not be there yet"`
	Logs bool   `json:"logs,omitempty" doc:"copy the stored output too, beside it with .log added"`
}

// BackupReport is a copy that was made and verified.
type BackupReport struct {
	Files []string `json:"files" doc:"the copies"`
	Bytes int64    `json:"bytes" doc:"their size"`
}

// HouseService keeps the home in order.
type HouseService interface {
	// CollectGarbage frees what is kept no longer, and tells what stays and why.
	CollectGarbage(ctx context.Context, req GCRequest) (GCReport, error)
	// Backup copies the databases as they are at one moment, and verifies the
	// copies. CodeInvalid for a path that is not absolute, CodeRefused when
	// something is there, CodeFailed when it cannot be written.
	Backup(ctx context.Context, req BackupRequest) (BackupReport, error)
}
