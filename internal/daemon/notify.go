package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"cw/internal/cw"
	"cw/internal/notify"
	"cw/internal/proc"
)

// newNotifier makes what tells people of events, as it is configured.
func newNotifier(c Config, source notify.Source, log *slog.Logger) *notify.Notifier {
	set := c.Settings.Notify
	types := make([]cw.EventType, len(set.Events))
	for i, t := range set.Events {
		types[i] = cw.EventType(t)
	}
	secret := notify.Secret(set.SecretFile)
	if key, err := secret.Read(); err == nil && key != nil {
		c.masks.Put("notify", string(key))
	} else if err != nil && set.Webhook != "" {
		log.Warn("no webhook is sent before its key can be read", "error", err)
	}
	if len(types) == 0 { // an empty list means no event, not every one
		set.Webhook, set.Command = "", nil
	}
	return notify.New(notify.Options{
		Source: source, Types: types, Webhook: set.Webhook, Secret: secret, Command: set.Command,
		Environ: c.Environ, Exec: execNotice, Dir: c.Home.RunState(), Log: log,
	})
}

// execNotice implements notify.Exec.
func execNotice(ctx context.Context, argv, env []string, stdin []byte, outputMax int) ([]byte, int, error) {
	out, errOut, code, err := proc.Output(ctx, proc.Command{
		Argv: argv, Env: append(slices.Clip(env), cw.ChildVariable+"="+cw.ChildValue), Dir: "/", MaxBytes: outputMax, Stdin: stdin, DropRest: true,
	})
	said := append(errOut, out...) // what went wrong is said first
	return said[:min(len(said), outputMax)], code, err
}

func noticeEvents() []string {
	var names []string
	for _, t := range cw.NoticeEvents() {
		names = append(names, string(t))
	}
	return names
}

// checkNoticeEvent takes a type of event that people can be told of.
func checkNoticeEvent(word string) error {
	err := cw.CheckNoticeEvent(cw.EventType(word))
	switch {
	case err == nil:
		return nil
	case cw.EventType(word).Stored():
		return fmt.Errorf("is no type of event; %s", cw.ErrorHint(err))
	}
	return fmt.Errorf("is not stored; %s", cw.ErrorHint(err))
}

// checkSecretFile takes a path; whether the file can be used is seen when it is
// read.
func checkSecretFile(word string) error {
	if word != "" && (!filepath.IsAbs(word) || strings.ContainsFunc(word, isControl)) {
		return errors.New("is no absolute path")
	}
	return nil
}

// checkArgument takes one word of a command.
func checkArgument(word string) error {
	const most = 8 << 10
	switch {
	case word == "":
		return errors.New("is empty")
	case len(word) > most || strings.ContainsRune(word, 0):
		return fmt.Errorf("is no argument of at most %d bytes", most)
	}
	return nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// notifyChecks look at what is needed to tell people, and at how it goes.
func notifyChecks(home cw.Home, environ []string, running *cw.DaemonStatus) []Check {
	settings, err := LoadSettings(ConfigSources{Home: home, Environ: environ})
	if err != nil {
		return nil // configCheck tells
	}
	var out []Check
	set := settings.Notify
	if set.Webhook != "" {
		c := Check{Name: "webhook", Status: CheckOK, Detail: "signed"}
		if key, err := notify.Secret(set.SecretFile).Read(); err != nil {
			c.Status, c.Detail, c.Fix = CheckFail, err.Error(), cw.ErrorHint(err)
		} else if key == nil {
			c.Detail = "not signed: notify.secretFile is not set"
		}
		out = append(out, c.or(cw.HookWebhook, running))
	}
	if len(set.Command) > 0 {
		c := Check{Name: "notices", Status: CheckOK, Detail: set.Command[0]}
		if _, err := proc.LookPath(set.Command[0], variable(environ, "PATH")); err != nil {
			c.Status, c.Detail, c.Fix = CheckFail, fmt.Sprintf("notify.command: %v", err), "name a program that is there, best by its whole path; then cw restart"
		}
		out = append(out, c.or(cw.HookCommand, running))
	}
	return out
}

// or is a check, or what the daemon knows to go wrong with a hook.
func (c Check) or(kind cw.HookKind, running *cw.DaemonStatus) Check {
	if c.Status != CheckOK || running == nil {
		return c
	}
	for _, h := range running.Hooks {
		if h.Kind == kind && h.FailingSince != nil {
			c.Status, c.Detail = CheckWarn, fmt.Sprintf("nothing gets through since %s: %s", h.FailingSince.Local().Format("15:04:05"), h.Error)
			c.Fix = "cw notify test shows what happens"
		}
	}
	return c
}
