package api

import (
	"net/http"

	"cw/internal/cw"

	"github.com/danielgtaylor/huma/v2"
)

// The words of the API's description. Fields have theirs in doc tags.

const aboutAPI = `cw runs coding agents as a team: provider CLIs, headless and detached, each in a git worktree of its own.

Everything is JSON. Lists are pages: ` + "`{items, next}`" + `; ` + "`next`" + ` is the cursor of the page after, and is missing on the last one. What is added or removed meanwhile makes no item come twice or be left out.

Errors are ` + "`{code, message, hint}`" + ` with a status that belongs to the code.

Fields and values may be added within a major version: ignore what you do not know. So does the daemon, except that a parameter or a field that is nearly one of the route's is refused, because the other was meant. The header ` + "`Cw-Api`" + ` of each answer has the version; a request may carry it too, and one of another major version is refused.

The streams are server-sent events. An item has no event name, so that the onmessage of an EventSource gets all of them.`

const aboutServer = `The door for dashboards. It is closed until cw open is run or http.address is set. The same API is on the unix socket of the daemon (host cw.sock), where the kernel tells who is calling and people need no token.`

const aboutToken = `A dashboard's token: cw token create. It has scopes: read sees everything, operate (which includes read) also spawns, stops, resumes, answers, removes and registers, changes initiatives, decides about proposals and checkpoints, pauses the dispatcher and tries tasks again. The session of a browser (cw open, then POST /v1/sessions) has the scope person, which includes both: it also lands branches, opens pull requests, trusts projects, tries hooks, and lists and ends tokens. On the socket people need none.`

const aboutTicket = `For EventSource, which can send no header: a ticket of POST /v1/stream-tickets opens one stream within 30 seconds, once.`

const aboutFrames = `A stream of server-sent events. Each item is one frame without a name: ` + "`data`" + ` is one line of JSON, and ` + "`id`" + ` is where the stream goes on when the connection breaks (Last-Event-ID). Named frames: ` + "`end`" + ` (the stream is whole, do not come back), ` + "`failure`" + ` (it failed after its start), ` + "`mark`" + ` (only an id: all before it was sent). Comments are signs of life. A reader that is too slow is cut off and goes on from its last id.`

func tags() []*huma.Tag {
	return []*huma.Tag{
		{Name: "agents", Description: "Start, watch, tell, stop, resume and remove agents, and see what they changed."},
		{Name: "questions", Description: "What agents ask people, and the answers."},
		{Name: "conversations", Description: "What agents ask each other, and the answers."},
		{Name: "projects", Description: "The git repositories that agents work on."},
		{Name: "initiatives", Description: "From a goal to tasks: initiatives, their pages, phases and tasks."},
		{Name: "dispatch", Description: "Which tasks run, why the others wait, and how what comes out is merged and landed."},
		{Name: "proposals", Description: "Changes that architect agents suggest, for people to accept or dismiss."},
		{Name: "prompts", Description: "What agents are told."},
		{Name: "events", Description: "What happened and happens, as a stream."},
		{Name: "accounts", Description: "The logins and keys of providers that agents work with. Secrets come in over the socket only, and never out."},
		{Name: "costs", Description: "What runs cost, and hard limits of it."},
		{Name: "providers", Description: "The CLIs that agents can be: what cw knows of each, and what is installed."},
		{Name: "tokens", Description: "Tokens of dashboards, and the sessions of browsers."},
		{Name: "daemon", Description: "The daemon itself."},
	}
}

// operationTexts says more about each route than its summary, by the id of the
// operation.
func operationTexts() map[string]string {
	return map[string]string{
		"get-status":                 "How the daemon is: version, places, counts and sizes.",
		"shut-down":                  "Asks the daemon to end and answers at once with the status as it was. Agents run on; the next daemon takes them up.",
		"get-whoami":                 "Who the daemon takes the caller for.",
		"list-projects":              "One page of the projects, by name unless `sort` says otherwise.",
		"add-project":                "Registers the repository that contains a folder. One that is registered already is answered as it is.",
		"get-project":                "One project by id, name or absolute path.",
		"get-project-file":           "The `cw.yaml` of a project as it is in a commit, what it says, and whether a person trusts this content. Where `problem` is there, it cannot be used.",
		"trust-project":              "Trusts the content of a project's `cw.yaml` with this digest, so that its commands may be run, or trusts it no longer. Refused when the content is another one by now: look at it, and send the digest of what was looked at.",
		"remove-project":             "Forgets a project and cw's own copy of it. The repository itself is not touched. Refused while agents use it.",
		"list-agents":                "One page of the agents that match all filters, newest first unless `sort` says otherwise.",
		"spawn-agent":                "Makes an agent and starts its first run. It answers when the CLI runs or is known not to start; on an error nothing is left behind. With `requestKey` it may be repeated.",
		"get-agent":                  "One agent with its runs, places and open questions.",
		"stop-agent":                 "Ends the agent's whole process tree and answers when nothing of it is left. An agent that waits for answers is stopped, too, and its open questions are withdrawn; one that is parked no longer goes on by itself. Stopping one that is idle, crashed or stopped changes nothing.",
		"get-agent-diff":             "What the agent changed since its base, or since it parted from the branch of its initiative: commits, and work that is not committed. It outlives the worktree.",
		"get-plan":                   "The newest plan of an agent with its steps: the one that it made with its tools, or the list of its CLI. How far it is stands in `plan` of the agent, too.",
		"set-plan":                   "Makes the plan of the calling agent, or revises the one of which a step is open: it keeps its id, and steps whose title is unchanged keep their status. The same plan once more changes nothing. Nobody else may, people neither.",
		"move-plan-step":             "Moves a step of the calling agent's plan: pending, in_progress, then completed or skipped, and from pending to these at once. The status that it has already changes nothing; one that is over stays so. Nobody else may, people neither.",
		"get-agent-output":           "Stored output first, then live, without a gap or a double. Closing the connection never stops the agent.",
		"get-agent-output-page":      "A piece of an agent's stored output as parsed events, the same as those of the stream with `format=events`, oldest first: without `before` and `after` the last. `older` and `newer` name the pages beside it, `stream` where the stream goes on without a gap or a double. It is parsed from a place near it, however long the run is: there the figures of a result (the run has them), and a change of a file whose call is far away, may be missing. A search looks at about 16 MiB at a time and goes on with `older`, also after a page without items.",
		"resume-agent":               "Starts another run of an agent that is idle, crashed or stopped, in the same worktree and, where its CLI can, in the same session. It answers when the CLI runs. Refused for one that runs, waits for answers or is removed.",
		"remove-agent":               "Puts the agent's places into the trash, after a snapshot of all that is not committed. Branches, output and rows stay. Refused while it runs. Removing a removed agent changes nothing.",
		"restore-agent":              "Brings a removed agent back, with its worktree, branch and what was not committed. 410 when nothing holds them any more. Restoring an agent that was not removed changes nothing.",
		"open-worktree":              "Brings the worktree of an agent back to its path when it was cleaned up, and says where it is. It is not cleaned up before `heldUntil`, 10 minutes on; who has it open that long asks again. The project's set-up is not run. Refused for an agent that is removed.",
		"list-messages":              "One page of all texts to and from an agent, oldest first unless `sort` says otherwise.",
		"send-message":               "Gives an agent a text. An idle one is resumed with it at once; for one that runs or waits for answers it is queued and is in its next prompt, unless `whenBusy` is refuse. Refused for an agent that crashed, was stopped or removed.",
		"list-questions":             "One page of the questions that match all filters, oldest first unless `sort` says otherwise.",
		"get-question":               "One question by its id.",
		"ask-people":                 "Stores questions of the calling agent as one group and answers with them at once; a call of the agent then waits with `await-answers`. With a `requestKey` it may be repeated: the second time answers with the questions of the first.",
		"await-answers":              "Stays open until none of the questions is open, then sends them as one frame: each is answered, or withdrawn with a reason. Only the agent that asked may wait, and people. Who is cut comes back and waits on.",
		"get-toolbox":                "Which of cw's tools the calling agent may be offered, by the rights of its run, and how patient its CLI is with their calls. Agents only.",
		"answer-questions":           "Stores answers, all or none of them, and answers with the questions when they are durable. An agent of which no question is open any more is resumed with them, exactly once. Refused, naming the answer, for a question that is answered already.",
		"set-project":                "Changes policies of a project. What is not named stays.",
		"list-initiatives":           "One page of the initiatives, newest first unless `sort` says otherwise.",
		"create-initiative":          "Makes an initiative and its first page, which holds the goal. Its slug, the name in commands and branches, is made of the name and numbered when it is taken.",
		"get-initiative":             "One initiative by id or slug with its pages, phases and tasks, all without their texts, and the number of open proposals.",
		"edit-initiative":            "Changes an initiative. What is not named stays. An archived one changes in nothing but being taken out of the archive; archiving is refused while agents of it work.",
		"create-pull-request":        "Pushes the branch of an initiative to the project's remote, never by force, and opens a pull request for it, or brings the open one up to date. It answers when the forge did. Refused while nothing is merged, when the remote's branch went another way, and for a token that may not. Over TCP it takes no token and no address: it uses an account's.",
		"open-dashboard":             "Lets the daemon listen on a loopback port when it does not yet, and gives an address whose fragment has a code for one session. The port stays the same over restarts, unless another program has taken it.",
		"get-config":                 "All settings as the running daemon has them, with their defaults, what they take and where each comes from. They are changed on the daemon's machine: `cw config set`.",
		"start-session":              "Turns a code of `cw open` into a session: a token with the scope `person`, shown only now, which ends after 30 days without use. A code is good once, for 60 seconds. Too many wrong codes are answered with 429.",
		"prove-session":              "Shows to a page that it is the daemon that its session is of, before the page sends the session's token: while the daemon is away another program may listen at its port. The answer says, to who has the token alone, whether the session lives or is over; for an id that is none it has the same form. It needs no token.",
		"end-session":                "Ends the session that calls: its token is refused from now on, and its open streams end.",
		"list-pages":                 "The pages of an initiative without their texts, in the order of the tree.",
		"create-page":                "Makes a page as the last of its siblings.",
		"get-page":                   "One page with its text.",
		"edit-page":                  "Changes or moves a page. What is not named stays. With `revision` a page that changed since is left as it is. A move below itself is refused, naming the way around.",
		"get-page-document":          "The text of a page as a document of the Tiptap editor. Markdown is the truth; a block that the editor does not know is a node `rawBlock` with its Markdown, and so is a page that is too big for the editor.",
		"edit-page-document":         "Stores a document of the Tiptap editor as the Markdown of a page, and answers with it as it is stored. Blocks that did not change keep their bytes. Refused when the page changed since `revision` (read it anew).",
		"remove-page":                "Removes a page. Refused for the first page and for one with pages below it.",
		"list-phases":                "The phases of an initiative without their texts, in order, archived ones too.",
		"create-phase":               "Makes a phase as the last of its initiative. It is approved: a person asks for it.",
		"get-phase":                  "One phase with its text.",
		"edit-phase":                 "Changes a phase. What is not named stays. Dependencies that run in a circle are refused, naming the way around.",
		"list-initiative-tasks":      "The tasks of an initiative without their texts, in the order of its phases.",
		"list-tasks":                 "The tasks of an initiative or of a phase, one of which must be named, without their texts.",
		"create-task":                "Makes a task as the last of its phase. It is pending: a person asks for it.",
		"get-task":                   "One task with its text.",
		"edit-task":                  "Changes a task. What is not named stays. Dependencies that run in a circle are refused, naming the way around.",
		"get-dispatch":               "What runs, what is started next, and each task that waits with exactly one reason. Limits and the order hold over all initiatives, so what waits for another one says so.",
		"set-dispatch":               "Pauses the dispatcher (nothing is started or merged), drains it (nothing is started, what is done is still merged), or lets it go on. Agents work on whatever is set.",
		"get-inbox":                  "Everything that waits for a person: questions, checkpoints, proposals, silent and crashed agents, limits, work that cannot be merged, tasks that cannot go on, and initiatives that can be landed. Each item has a key that stays the same for as long as the same thing waits. What another reader answers or decides is gone at the next look; the events tell when to look again.",
		"get-dispatch-plan":          "Simulates in which order the tasks of an initiative would be started and merged, if every task took as long as such tasks took so far and nothing failed. It starts nothing.",
		"retry-task":                 "Gives a task that is blocked, or waits to be tried again, its tries back. Refused for one that is neither.",
		"decide-task":                "Says of a checkpoint that it is done, or that its result is not what was wanted: then it goes back with the comment. A decision that asks questions takes an answer to each of them, all at once. Refused for a task that waits for no verdict.",
		"list-merges":                "All work of tasks of an initiative that was ever queued, the oldest first, with where it stands and what was found last.",
		"list-integrations":          "The branch of an initiative in each project: where it began, its last commit, and what of it was landed.",
		"land-initiative":            "Brings the branch of an initiative into the branch of the repositories that it began from, or `into`, in all of its projects or in none. With `dryRun` it only says what would be done. Refused while tasks are not done, unless `unfinished` is set; for a branch that is checked out with changes; and for one that conflicts.",
		"get-task-diff":              "What the work on a task changes, unless said otherwise against what it was merged with, else what it began from. It outlives the worktree. Refused when nobody worked on it.",
		"get-initiative-diff":        "What the branch of an initiative changes since it began, or since it parted from the branch that it began from. Refused while nothing is merged.",
		"list-proposals":             "One page of the proposals that match all filters, oldest first unless `sort` says otherwise.",
		"get-proposal":               "One proposal with its target as it is now, and what happened to that since.",
		"accept-proposals":           "Makes the suggested changes in the order in which they depend on each other, all or none. Refused, naming the proposal, when one is not open, when its target changed since, and when it depends on something that is not there and not among them.",
		"dismiss-proposals":          "Lets proposals be, all or none. The note is told to the next agent.",
		"render-prompt":              "Renders exactly what an agent would be told, with its blocks, and makes nothing. An architect needs an initiative, or a phase or task of one; an execute agent a task or a goal.",
		"list-accounts":              "The accounts of a provider, or of all, by priority and name. Secrets are never shown.",
		"get-account":                "One account by id, name, or `PROVIDER/NAME` (percent-encoded) where several providers have the name.",
		"add-account":                "Adds an account with a token, an API key, or the directory of an existing login; with none of them an empty one for a login to come. Refused for a name that is taken and for a login that is an account already. The secret is kept in the system's keyring or a sealed file, and told to nobody but the CLI.",
		"set-account":                "Changes an account. What is not named stays. Agents that run are not touched.",
		"remove-account":             "Forgets an account and its secret; the costs of its runs stay. Refused, naming the agents, while one uses it, unless `drain` is set: then it gets no new runs and goes with its last agent.",
		"login-account":              "The command and the variables with which a person logs in, in a terminal of their own. No secret is among them.",
		"finish-login":               "Looks at what the CLI's own login left behind and takes it over.",
		"discover-accounts":          "Logins that are found on this machine and are no accounts yet. It adds nothing.",
		"get-account-usage":          "Asks the provider how far the account's windows are used. When it cannot be asked the answer has the last known figures with their age.",
		"test-account":               "Tries the account's credentials, and tells what was seen.",
		"get-costs":                  "One page of sums over runs, of removed agents too: the greatest first, days in order. Runs under way are counted in `runs` and `underWay`, with what they cost so far; a sum that grows between two pages may move.",
		"list-providers":             "All presets, built in and of the user's own files, by name; files that cannot be read, too, with line and reason. Programs that are found are asked for their version, once for as long as their file stays as it is.",
		"get-provider":               "One provider by name or alias, with what is known to go wrong.",
		"list-budgets":               "All budgets with what is spent of them, by runs that are under way too.",
		"set-budget":                 "Sets the limit of an agent, an initiative or an account; 0 takes it away. At 80 % there is an event budget:warning; at 100 % agents are asked to commit and stop, and then stopped.",
		"collect-garbage":            "Frees what is kept no longer, and tells what stays and why. With `dryRun` nothing is done.",
		"make-backup":                "Copies the databases as they are at one moment to a path on the daemon's machine, and verifies the copies. Refused when something is there.",
		"try-hooks":                  "Sends one notification by every hook that is configured, once, and tells what became of each. Refused when there is none.",
		"list-tokens":                "One page of the tokens of dashboards and the sessions of browsers, the revoked too, newest first unless `sort` says otherwise. The one that the caller came with is `current`.",
		"create-token":               "Makes a token. The answer is the only place where it can be seen.",
		"revoke-token":               "Ends a token by its id or name: the next request with it is refused, and its open streams end.",
		"get-events":                 "Events that are kept, from a number on, and with `follow` live ones for ever, without a gap or a double at the seam. A number older than what is kept is answered with 410: read the state anew and go on from its tail.",
		"list-event-log":             "One page of the events that are kept and match all filters, newest first. What comes meanwhile is on no later page.",
		"create-stream-ticket":       "Makes a ticket for one stream. It lives 30 seconds, opens one stream once, and may what its maker may.",
		"get-health":                 "Whether a daemon answers. It tells nothing else.",
		"get-metrics":                "Figures in the text format of Prometheus, when metrics.enabled is set.",
		"get-openapi":                "This document.",
		"list-conversations":         "One page of the conversations that match all filters, newest first unless `sort` says otherwise.",
		"get-conversation":           "One conversation by its id.",
		"ask-agent":                  "Stores a question of the calling agent to another one and answers at once, with who was chosen. Refused for people; for the agent itself; for a target that does not run, unless `queue` or `wake` is set; for a circle of agents that wait for each other, which is named; and past a limit. With `requestKey` it may be repeated.",
		"await-conversation":         "One item, the conversation, once it is answered or cancelled; then the end. Who comes back after the connection broke gets it, too. Only the agent that asks, and people.",
		"answer-conversation":        "Answers a question to the calling agent, once; the same answer again changes nothing. Refused for a conversation that is answered otherwise or cancelled, and for everybody who was not asked.",
		"list-pending-conversations": "Questions to the agent that are not answered: what is stored first, then what comes, for as long as its run lasts. Items carry no id: who comes back gets what is not answered yet, again. Only the agent itself.",
		"message-agent":              "Gives another agent a text to work on. It answers as soon as that is stored, with the `responseId`; an agent at rest is started with it, one that runs gets it with its next run. Refused for an agent that crashed, was stopped or removed, and past a limit. With `requestKey` it may be repeated.",
		"await-agent-message":        "A stream of one item: the response to a text, once the run that had it is over. Closing the connection changes nothing for the agent. Only the agent that sent the text, and people, may ask.",
	}
}

// schemaTexts says what each component is, by its name.
func schemaTexts() map[string]string {
	return map[string]string{
		"Account":                  "one login or key of one provider, without its secret",
		"AccountChanged":           "payload of account:added, account:changed, account:removed and account:refreshed",
		"AccountExhausted":         "payload of account:exhausted",
		"AccountInvalid":           "payload of account:invalid",
		"AccountSettings":          "changes an account; what is missing stays",
		"AccountTest":              "what a test of an account's credentials showed",
		"AccountUsage":             "the use of an account's windows",
		"AccountView":              "an account with what people ask about it",
		"AddAccountRequest":        "adds an account: at most one of token, apiKey and configDir",
		"AgentAccountSwitched":     "payload of agent:account_switched",
		"AgentParked":              "payload of agent:parked: the agent goes on by itself",
		"Budget":                   "a hard limit of cost",
		"BudgetReached":            "payload of budget:warning and budget:spent",
		"CostRow":                  "one sum of costs",
		"DiscoverBody":             "where to look for logins",
		"FoundLogin":               "a login that was found on this machine and is no account yet",
		"LoginCommand":             "how a person logs in to an account",
		"PageAccountView":          "accounts; there is always one page",
		"PageBudget":               "budgets; there is always one page",
		"PageCostRow":              "sums of costs; there is always one page",
		"PageProviderView":         "providers; there is always one page",
		"ProviderView":             "what is known of one provider's CLI on this machine",
		"PageFoundLogin":           "logins that were found; there is always one page",
		"SetBudgetBody":            "sets or takes away a hard limit of cost",
		"UsageWindow":              "how much of a limited time is used",
		"PromptRequest":            "asks what an agent would be told",
		"PromptView":               "a prompt and its parts",
		"PromptBlock":              "one part of a prompt",
		"Activity":                 "what a running agent does now",
		"ProjectRequest":           "the repository to register, by a path or a URL",
		"AgentActivity":            "payload of agent:activity",
		"AgentCrashed":             "payload of agent:crashed",
		"AgentOutput":              "payload of agent:output: a chunk was stored",
		"AgentPurged":              "payload of agent:purged: a directory left the trash for good",
		"AgentRemoved":             "payload of agent:removed",
		"AgentRestored":            "payload of agent:restored",
		"AgentResumed":             "payload of agent:resumed: another run is intended",
		"AgentRunning":             "payload of agent:running",
		"AgentSpawned":             "payload of agent:spawned",
		"AgentStalled":             "payload of agent:stalled: no output for longer than the provider's patience; the agent still runs",
		"AgentStarting":            "payload of agent:starting",
		"AgentStopped":             "payload of agent:stopped: a run ended well, or a person or a rule ended it",
		"AgentView":                "an agent with everything that belongs to it",
		"AgentWaiting":             "payload of agent:waiting",
		"AgentWarning":             "payload of agent:warning",
		"AgentWorktree":            "an agent's place in one project",
		"AnswersRequest":           "answers questions, all or none of them",
		"BackupReport":             "a copy that was made and verified",
		"BackupRequest":            "asks for a copy of the databases",
		"Chunk":                    "a piece of raw output; the next one of the session begins where it ends",
		"Commit":                   "one commit of an agent",
		"ContextUse":               "how full the model's context is",
		"CreatedToken":             "a token at the only time when it can be seen",
		"DaemonStatus":             "how the daemon is",
		"FileChange":               "the size of the change of one file",
		"Diff":                     "what an agent, the work on a task or an initiative changed since its base",
		"DiskState":                "payload of disk:low and disk:ok",
		"EndData":                  "why a stream is whole",
		"EventLog":                 "one page of what happened",
		"Event":                    "something that happened, whatever its type",
		"GCReport":                 "what a clean-up freed, or would free",
		"GCRequest":                "asks for a clean-up of what is kept no longer",
		"Garbage":                  "something that may go, or must not go yet",
		"Health":                   "a daemon answers",
		"Limit":                    "a usage limit of an account",
		"Message":                  "a text that goes to an agent, or its final word of a run",
		"MessageQueued":            "payload of message:queued",
		"MirrorRestored":           "payload of mirror:restored",
		"OpenedWorktree":           "the place of an agent that a person works in, too",
		"AgentMessageRequest":      "a text of an agent for another agent",
		"AgentMessageResult":       "what became of a message to an agent",
		"AgentToolCall":            "a call of a tool in the run that had a message",
		"OutputEvent":              "a parsed piece of output with its place",
		"OutputPage":               "a piece of an agent's parsed output",
		"OutputRun":                "a run as the border between pieces of output",
		"Hook":                     "one way by which people are told of events, and how it does",
		"HookTrial":                "what became of a notification that was sent to try a hook",
		"PageHookTrial":            "what became of the trials, one a hook; there is always one page of them",
		"PageAgentView":            "one page of agents",
		"PageInitiative":           "one page of initiatives",
		"PageDocument":             "pages of an initiative; there is always one page of them",
		"PagePhase":                "phases; there is always one page",
		"PageTask":                 "tasks; there is always one page",
		"PageProposal":             "one page of proposals",
		"Initiative":               "a goal over one or more projects",
		"Progress":                 "how far the tasks of an initiative are",
		"InitiativeProject":        "a project of an initiative",
		"InitiativeView":           "an initiative with everything that belongs to it",
		"InitiativeEdit":           "changes an initiative; what is missing stays",
		"InitiativeChanged":        "payload of initiative:created and initiative:changed",
		"CreateInitiativeRequest":  "asks for a new initiative",
		"Document":                 "a page of an initiative",
		"CreatePageBody":           "asks for a new page",
		"EditorDocument":           "the text of a page for the Tiptap editor",
		"EditorEdit":               "changes the text of a page by the Tiptap editor",
		"PageEdit":                 "changes or moves a page; what is missing stays",
		"PageChanged":              "payload of page:created, page:changed and page:removed",
		"Phase":                    "a step of an initiative, which holds tasks",
		"CreatePhaseBody":          "asks for a new phase",
		"PhaseEdit":                "changes a phase; what is missing stays",
		"PhaseChanged":             "payload of phase:created and phase:changed",
		"Task":                     "one unit of work for one agent",
		"CreateTaskRequest":        "asks for a new task",
		"TaskEdit":                 "changes a task; what is missing stays",
		"TaskChanged":              "payload of task:created and task:changed",
		"TaskCheckpoint":           "payload of task:checkpoint",
		"TaskBlockedBy":            "payload of task:blocked",
		"TaskOutside":              "payload of task:outside",
		"OutsideFiles":             "files that the work on a task changed outside its paths",
		"MergeChanged":             "payload of merge:queued, merge:checking, merge:conflicted, merge:red, merge:merged and merge:dismissed",
		"InitiativeLanded":         "payload of initiative:landed",
		"DispatchChanged":          "payload of dispatch:changed",
		"ProjectTrusted":           "payload of project:trusted and project:untrusted",
		"WorkSettings":             "which agents do the tasks of an initiative",
		"WorkEdit":                 "changes which agents do the tasks of an initiative",
		"DispatchLimits":           "how many agents work on tasks at once",
		"DispatchPlan":             "what would happen if nothing failed",
		"DispatchRequest":          "changes the state of the dispatcher",
		"DispatchStatus":           "what the dispatcher does, and why",
		"DispatchStep":             "one start in a simulated plan",
		"DispatchTask":             "a task as the dispatcher sees it",
		"InitiativeRef":            "the name of an initiative",
		"WaitReason":               "why a task is not started: exactly one, and true",
		"TaskVerdict":              "what a person says of a checkpoint",
		"TaskQuestion":             "one thing that a decision asks",
		"Merge":                    "the work of a task on its way to the branch of its initiative",
		"MergePart":                "the work of a task in one project",
		"Integration":              "the branch of an initiative in one project",
		"LandRequest":              "asks to bring the branch of an initiative into its repositories",
		"Landing":                  "what became of one project's branch",
		"PageMerge":                "merges; there is always one page",
		"PageIntegration":          "branches of an initiative; there is always one page",
		"PageLanding":              "what became of the branches; there is always one page",
		"Proposal":                 "a change that an architect agent suggests",
		"ProposalView":             "a proposal beside what it changes, as that is now",
		"ProposalChoice":           "names open proposals, in exactly one of three ways",
		"ProposalChanged":          "payload of proposal:created, proposal:accepted, proposal:dismissed and proposal:superseded",
		"Inbox":                    "everything that waits for a person",
		"InboxItem":                "one thing that waits for a person, with the command that deals with it",
		"PullRequest":              "an open pull request of an initiative, at GitHub or GitLab",
		"PullRequestRequest":       "opens a pull request for the branch of an initiative",
		"PageMessage":              "one page of messages",
		"PageProject":              "one page of projects",
		"PageQuestion":             "questions that were asked at once",
		"PageQuestionView":         "one page of questions",
		"PageToken":                "one page of tokens",
		"Problem":                  "an error: what kind it is, what is wrong, and what to do next",
		"Project":                  "a git repository that cw works on",
		"ProjectChanged":           "payload of project:added and project:removed",
		"ProjectCommand":           "a command of a project's cw.yaml",
		"ProjectFile":              "what a project's cw.yaml says",
		"ProjectFileView":          "a project's cw.yaml at a commit",
		"ProjectPolicies":          "payload of project:changed",
		"ProjectSettings":          "changes policies of a project",
		"TrustRequest":             "trusts a content of a project's cw.yaml, or no longer",
		"PeopleRequest":            "questions of an agent to people, for a call that waits",
		"Question":                 "one question of an agent to people",
		"QuestionAnsweredPayload":  "payload of question:answered",
		"QuestionOption":           "one offered answer",
		"AskRequest":               "asks another agent; exactly one of agentId, taskId and phaseId is set",
		"ConversationAnswer":       "answers a question of another agent",
		"ConversationView":         "a question of an agent to another one, and its answer",
		"PageConversationView":     "one page of conversations",
		"PendingConversation":      "a question as the asked agent gets it",
		"ConversationCreated":      "payload of conversation:created",
		"ConversationMoved":        "payload of conversation:delivered, conversation:answered and conversation:cancelled",
		"PlanChanged":              "payload of plan:created and plan:revised",
		"Plan":                     "an agent's own list of steps",
		"PlanRequest":              "makes a plan, or revises the one that is open",
		"PlanStep":                 "one step of a plan",
		"PlanStepRequest":          "one step of a plan that is made",
		"PlanSummary":              "how far a plan is",
		"StepRequest":              "moves one step",
		"PlanStepMoved":            "payload of plan:step_started and plan:step_completed",
		"QuestionRemindedPayload":  "payload of question:reminded",
		"QuestionRequested":        "payload of question:requested",
		"ToolQuestion":             "one question as a model gives it",
		"QuestionView":             "a question with the name of the agent that asks",
		"QuestionWithdrawnPayload": "payload of question:withdrawn",
		"ResumeRequest":            "asks for another run of an agent that is at rest",
		"Run":                      "one process of an agent; session 1 is the spawn",
		"SecurityRefused":          "payload of security:refused",
		"SendRequest":              "a text of a person for an agent",
		"Sizes":                    "the space that the parts of the home take",
		"SpawnRequest":             "asks for a new agent",
		"Stat":                     "the size of a difference",
		"StopRequest":              "asks for the end of a running agent",
		"StreamEvent":              "what a line of a CLI's output means; only the fields of its kind are there",
		"StreamTicket":             "opens one stream in place of a token",
		"Token":                    "a token without its secret",
		"TokenChanged":             "payload of token:created and token:revoked",
		"TokenRequest":             "asks for a dashboard's token",
		"Opened":                   "a way into the dashboard, good for one browser",
		"OpenRequest":              "asks for a way into the dashboard",
		"Setting":                  "one setting of the daemon, as it holds",
		"SettingList":              "all settings",
		"SessionRequest":           "asks for a session with a code of cw open",
		"Proof":                    "what only the daemon of a session can know",
		"Toolbox":                  "what a run's tool server must know",
		"Usage":                    "tokens as the provider counts them",
		"Whoami":                   "who is calling",
	}
}

// errorExample is one of the errors that all routes share.
type errorExample struct {
	about       string
	problem     problem
	header      string // that such an answer carries
	headerAbout string
}

func errorExamples() map[int]errorExample {
	return map[int]errorExample{
		http.StatusBadRequest: {about: "The request itself is wrong.", problem: problem{
			Code: cw.CodeInvalid, Message: `agents cannot be sorted by "creatdAt"`, Hint: "did you mean createdAt?"}},
		http.StatusUnauthorized: {about: "Nobody is known to be calling: no token, one that is none, or one that was revoked.", problem: problem{
			Code: cw.CodeUnauthorized, Message: "a token is needed", Hint: "make one: cw token create"},
			header: "WWW-Authenticate", headerAbout: "Bearer, over TCP"},
		http.StatusForbidden: {about: "The caller is known and may not, or the page behind the request may not.", problem: problem{
			Code: cw.CodeForbidden, Message: "the token may not do this", Hint: "it needs the scope operate"}},
		http.StatusNotFound: {about: "The named thing does not exist.", problem: problem{
			Code: cw.CodeNotFound, Message: `there is no agent "brave-oter"`, Hint: "did you mean brave-otter? All agents: cw agent list"}},
		http.StatusConflict: {about: "Legal, but not in this state.", problem: problem{
			Code: cw.CodeRefused, Message: "the project is used by brave-otter", Hint: "a project can be removed when no agent uses it"}},
		http.StatusGone: {about: "It existed and is past its retention.", problem: problem{
			Code: cw.CodeGone, Message: "events before 4711 are no longer kept", Hint: "read the state anew, then follow from the tail"}},
		http.StatusUnprocessableEntity: {about: "The act was tried and did not succeed.", problem: problem{
			Code: cw.CodeFailed, Message: "git could not make the worktree", Hint: "cw doctor tells what is wrong"}},
		http.StatusTooManyRequests: {about: "Too many streams are open, or too many codes were wrong.", problem: problem{
			Code: cw.CodeTooMany, Message: "too many streams are open", Hint: "close some, then try again"}},
		http.StatusInternalServerError: {about: "A bug or a broken machine. The text is in the log only, under the id in the message.", problem: problem{
			Code: cw.CodeInternal, Message: "internal error (log id k3v7q2mzt5ha)", Hint: "`cw logs` shows what happened under this id"}},
		http.StatusServiceUnavailable: {about: "The daemon is stopping, or speaks another major version of the API.", problem: problem{
			Code: cw.CodeUnreachable, Message: stoppingText}},
	}
}

// bodyExample is a request that a reader may start from.
func bodyExample(id string) any {
	switch id {
	case "spawn-agent":
		return cw.SpawnRequest{Goal: "Fix the failing test in parser_test.go", Projects: []string{"shop"}, Provider: "claude"}
	case "add-project":
		return cw.ProjectRequest{Path: "/home/me/src/shop"}
	case "create-token":
		return cw.TokenRequest{Name: "wall-screen", Scopes: []cw.Scope{cw.ScopeRead}}
	case "open-dashboard":
		return cw.OpenRequest{Path: "/agents/brave-otter"}
	case "start-session":
		return cw.SessionRequest{Code: "cwo_…"}
	case "stop-agent":
		return cw.StopRequest{Now: true}
	case "resume-agent":
		return cw.ResumeRequest{Text: "Go on, and keep the old behaviour behind a flag"}
	case "set-plan":
		return cw.PlanRequest{Title: "Mend the parser", Steps: []cw.PlanStepRequest{{Title: "Write a failing test"}, {Title: "Mend it"}}}
	case "move-plan-step":
		return cw.StepRequest{Status: cw.StepInProgress}
	case "send-message":
		return cw.SendRequest{Text: "The tests are in parser_test.go", WhenBusy: cw.BusyQueue}
	case "answer-questions":
		return cw.AnswersRequest{Answers: map[cw.QuestionID]string{"k3v7q2mzt5ha": "yes", "m4w8r3nzu6jb": `["fast","small"]`}}
	case "ask-agent":
		return cw.AskRequest{AgentID: "calm-fox", Question: "Which parser do you use?"}
	case "answer-conversation":
		return cw.ConversationAnswer{Answer: "The new one, in parser/"}
	case "trust-project":
		return cw.TrustRequest{Digest: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}
	case "set-project":
		resume := cw.StallResume
		return cw.ProjectSettings{Stall: &resume}
	case "add-account":
		return sentAccount{AddAccountRequest: cw.AddAccountRequest{Provider: "claude", Email: "you@example.com"}, Token: "sk-ant-oat01-…"}
	case "set-account":
		first := 10
		return cw.AccountSettings{Priority: &first}
	case "discover-accounts":
		return discoverBody{Env: map[string]string{"CLAUDE_CONFIG_DIR": "/home/me/.claude-work"}}
	case "create-initiative":
		return cw.CreateInitiativeRequest{Name: "Spring sale", Goal: "Prices can be lowered for a time", Projects: []string{"shop"}}
	case "edit-initiative":
		archived := true
		return cw.InitiativeEdit{Archived: &archived}
	case "create-pull-request":
		return cw.PullRequestRequest{Base: "main", Draft: true}
	case "create-page":
		return createPageBody{Title: "How prices are rounded", Body: "To whole cents, half up."}
	case "edit-page":
		body := "To whole cents, half to even."
		return cw.PageEdit{Body: &body, Revision: 3}
	case "create-phase":
		return createPhaseBody{Name: "Price rules", DependsOn: []cw.PhaseID{"m4w8r3nzu6jb"}}
	case "edit-phase":
		approved := cw.PhaseApproved
		return cw.PhaseEdit{Status: &approved}
	case "create-task":
		return cw.CreateTaskRequest{
			PhaseID: "k3v7q2mzt5ha", Name: "Lower a price for a time", Body: "Extend `prices/rule.go` …",
			Paths: []string{"prices/**"}, Checks: []string{"go test ./prices passes"},
		}
	case "edit-task":
		done := cw.TaskDone
		return cw.TaskEdit{Status: &done}
	case "set-dispatch":
		return cw.DispatchRequest{State: cw.DispatchPaused}
	case "decide-task":
		return cw.TaskVerdict{Comment: "The old price is to stay readable beside the new one"}
	case "land-initiative":
		return cw.LandRequest{Into: "main", DryRun: true}
	case "ask-people":
		return cw.PeopleRequest{RequestKey: "call-1", Questions: []cw.ToolQuestion{{
			Header: "Database", Question: "Which database shall the shop use?",
			Options: []cw.QuestionOption{{Label: "SQLite", Description: "one file"}, {Label: "PostgreSQL"}},
		}}}
	case "accept-proposals":
		return cw.ProposalChoice{IDs: []cw.ProposalID{"k3v7q2mzt5ha", "m4w8r3nzu6jb"}}
	case "dismiss-proposals":
		return cw.ProposalChoice{Agent: "brave-otter", Note: "prices are never rounded up"}
	case "set-budget":
		return setBudgetBody{Scope: cw.BudgetAgent, Ref: "brave-otter", LimitUSD: 5}
	case "collect-garbage":
		return cw.GCRequest{DryRun: true}
	case "make-backup":
		return cw.BackupRequest{Path: "/home/me/cw-backup.db", Logs: true}
	}
	return nil
}

func frameExample(id string) string {
	switch id {
	case "await-conversation":
		return "data: {\"id\":\"k3v7q2mzt5ha\",\"fromAgentId\":\"m4w8r3nzu6jb\",\"fromRunId\":\"n5x9s4pav7kc\",\"toAgentId\":\"p6y2t5qbw3ld\",\"targetKind\":\"agent\",\"targetId\":\"calm-fox\",\"question\":\"Which parser do you use?\",\"answer\":\"The new one\",\"status\":\"answered\",\"queue\":false,\"wake\":false,\"createdAt\":\"2026-01-02T03:04:05Z\",\"updatedAt\":\"2026-01-02T03:04:09Z\",\"from\":\"brave-otter\",\"to\":\"calm-fox\"}\n\nevent: end\ndata: {\"reason\":\"complete\"}\n\n"
	case "list-pending-conversations":
		return "data: {\"conversationId\":\"k3v7q2mzt5ha\",\"fromAgentId\":\"m4w8r3nzu6jb\",\"question\":\"Which parser do you use?\"}\n\nevent: end\ndata: {\"reason\":\"complete\"}\n\n"
	case "get-events":
		return "id: 17\ndata: {\"seq\":17,\"type\":\"agent:running\",\"at\":\"2026-01-02T03:04:05Z\",\"actorKind\":\"cw\",\"agentId\":\"k3v7q2mzt5ha\",\"data\":{\"name\":\"brave-otter\",\"sessionNumber\":1,\"pid\":4711}}\n\nevent: end\ndata: {\"reason\":\"complete\"}\n\n"
	}
	if id == "await-answers" {
		return "data: {\"items\":[{\"id\":\"k3v7q2mzt5ha\",\"agentId\":\"m4w8r3nzu6jb\",\"runId\":\"n5x9s4pav7kc\",\"requestId\":\"p6y2t5qbw3md\",\"seq\":1,\"key\":\"q1\",\"source\":\"tool\",\"question\":\"Which database shall the shop use?\",\"options\":[{\"label\":\"SQLite\"},{\"label\":\"PostgreSQL\"}],\"multiSelect\":false,\"status\":\"answered\",\"answer\":\"SQLite\",\"createdAt\":\"2026-01-02T03:04:05Z\"}]}\n\nevent: end\ndata: {\"reason\":\"complete\"}\n\n"
	}
	return "id: 9\ndata: {\"id\":9,\"agentId\":\"k3v7q2mzt5ha\",\"agentName\":\"brave-otter\",\"session\":1,\"offset\":0,\"bytes\":\"aGVsbG8K\",\"createdAt\":\"2026-01-02T03:04:05Z\"}\n\nevent: end\ndata: {\"reason\":\"complete\"}\n\n"
}
