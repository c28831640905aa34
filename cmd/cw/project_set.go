package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

// The policies of a project that people set.
const (
	keyStall      = "stall"
	keyAutoResume = "autoResume"
	keyFallback   = "fallback"
	keyAgentSpawn = "agentSpawn"
)

type projectSetOptions struct {
	app             *app
	ref, key, value string
}

func newProjectSetCmd(a *app, runF func(context.Context, *projectSetOptions) error) *cobra.Command {
	opts := &projectSetOptions{app: a}
	return &cobra.Command{
		Use:   "set PROJECT KEY VALUE",
		Short: "Change a policy of a project",
		Long: `Change a policy of a project. Agents cannot.

  stall event|resume      what becomes of an agent that is silent for longer than
                          its provider's patience: you are told (the default), or
                          it is stopped and goes on with a note, at most twice
  autoResume true|false   agents that a restart of the machine ended go on by
                          themselves (default: false)
  fallback P1,P2|none     providers that agents go on with, in order, when every
                          account of their own is at its limit (default: none)
  agentSpawn 0|1|2|3      how deep agents may make agents: 0, not at all (the
                          default); 1, those that you make may; 2, those that
                          these make, too`,
		Example: "cw project set . stall resume\ncw project set site autoResume true\ncw project set . fallback codex\ncw project set . agentSpawn 1",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 3 {
				return usagef("%s needs a project, a key and a value, and got %s", title(cmd), count(len(args), "argument")).
					WithHint("keys: %s", strings.Join(projectKeys(), ", "))
			}
			opts.ref, opts.key, opts.value = args[0], args[1], args[2]
			return nil
		},
		RunE: start(a, runF, projectSetRun, opts),
	}
}

func projectSetRun(ctx context.Context, o *projectSetOptions) error {
	settings, err := projectSetting(o.key, o.value)
	if err != nil {
		return err
	}
	ref, err := o.app.projectRef(o.ref)
	if err != nil {
		return err
	}
	svc, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	p, err := svc.SetProject(ctx, ref, settings)
	if err != nil {
		return err
	}
	if o.app.json {
		return o.app.printJSON(p)
	}
	o.app.printProject(p)
	return nil
}

func projectKeys() []string { return []string{keyStall, keyAutoResume, keyFallback, keyAgentSpawn} }

// projectSetting reads one policy. CodeInvalid.
func projectSetting(key, value string) (s cw.ProjectSettings, err error) {
	switch key {
	case keyStall:
		policy := cw.StallPolicy(value)
		s.Stall = &policy
	case keyAutoResume:
		on, err := strconv.ParseBool(value)
		if err != nil {
			return s, usagef("%s is %.40q", keyAutoResume, value).WithHint("it is true or false")
		}
		s.AutoResume = &on
	case keyFallback:
		chain := []string{}
		if value != "" && value != "none" {
			for name := range strings.SplitSeq(value, ",") {
				chain = append(chain, strings.TrimSpace(name))
			}
		}
		s.Fallback = &chain
	case keyAgentSpawn:
		depth, err := strconv.Atoi(value)
		if err != nil {
			return s, usagef("%s is %.40q", keyAgentSpawn, value).WithHint("it is a number from 0 to %d", cw.AgentSpawnMax)
		}
		s.AgentSpawn = &depth
	default:
		keys := projectKeys()
		err := usagef("a project has no policy %.40q", key)
		if near, ok := cw.Nearest(key, keys); ok {
			return s, err.WithHint("did you mean %s?", near)
		}
		return s, err.WithHint("policies: %s", strings.Join(keys, ", "))
	}
	return s, s.Check()
}
