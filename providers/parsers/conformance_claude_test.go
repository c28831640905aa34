package parsers

import "cw/internal/cw"

// claudeFacts are of runs of claude 2.1.197 against a scripted model server.
func claudeFacts() []testimony {
	none := cw.Usage{}
	return []testimony{
		{"claude/askq", "d5429baf-00ae-4086-b765-661ed2383ac3", good, tokens(38490, 52), 0.19375, "", ""},                                                // AskUserQuestion under -p
		{"claude/auth-error", "81f961bd-fd2d-4174-9452-6cd9e8fbce46", refused, none, 0, "", ""},                                                          // 401 API key
		{"claude/auth401", "81f961bd-fd2d-4174-9452-6cd9e8fbce46", refused, none, 0, "", ""},                                                             // 401 API key
		{"claude/auth403", "90a5eb7d-bbeb-444b-ab00-bee221783d4a", refused, none, 0, "", ""},                                                             // 403
		{"claude/authtoken", "c4482c8a-999a-40f7-95ad-8576ff996100", good, tokens(19168, 42), 0.09689, "", ""},                                           // ANTHROPIC_AUTH_TOKEN
		{"claude/bare", "81052610-d2b0-48d7-9c40-4989180cd51e", good, tokens(1111, 42), 0.006605, "", ""},                                                // --bare
		{"claude/bgsh", "6a3042c5-d313-4fba-ae3f-096a94943c8d", good, tokens(38495, 52), 0.193775, "", ""},                                               // the result is not the last line
		{"claude/budget", "06ba05d8-0d91-4da7-873c-c457d471c199", failed, tokens(38499, 50), 0.193745, "", ""},                                           // --max-budget-usd 0.15 exceeded
		{"claude/credit", "f82ca39f-8bf2-4774-b374-60cd220d7b8d", limited, none, 0, "credit", ""},                                                        // 400 credit balance, billing_error
		{"claude/cut", "81c1264d-b02d-4b73-b2d2-a77cc202f5a2", unreachable, tokens(19163, 30), 0.096565, "", ""},                                         // connection cut in mid stream
		{"claude/env", "6627c2cc-3fdf-4a8d-a009-1cd820eae923", good, tokens(38507, 41), 0.19356, "", ""},                                                 // environment
		{"claude/fallback", "78023533-1ca7-4699-8822-0364e7389f9d", good, tokens(19174, 28), 0.09657, "", ""},                                            // 529 twice then ok
		{"claude/flags", "bd15000f-78a0-4d7e-a076-eb0e5307aaa2", good, tokens(28965, 42), 0.087525, "", ""},                                              // --agents, --settings and others
		{"claude/interrupted-sigint", "33333333-3333-4333-8333-333333333332", aborted, tokens(19166, 25), 0.096455, "", ""},                              // SIGINT, tool running
		{"claude/interrupted-sigterm", "44444444-4444-4444-8444-444444444441", open, tokens(19169, 25), 0, "", ""},                                       // SIGTERM, tool running: no result line
		{"claude/maxturns", "6abfda42-67dc-4a60-ab67-ae46446ecacd", failed, tokens(38459, 50), 0.193545, "", ""},                                         // --max-turns 2 exceeded
		{"claude/mcp30t10", "45b0954b-574f-4cf2-b5ca-5ef43885ca51", good, tokens(38596, 52), 0.19428, "", ""},                                            // MCP_TOOL_TIMEOUT=10000
		{"claude/mcp30t10p", "d95f7d7e-feb4-4b79-bfed-0372d7ee2cd2", good, tokens(38598, 52), 0.19429, "", ""},                                           // progress does not extend it
		{"claude/mcp400", "cb1f7ab9-a726-4b72-bf8b-1e3496c2d056", good, tokens(38590, 52), 0.19425, "", ""},                                              // blocking 400 s
		{"claude/mcp90", "11ca5af4-cb35-4236-b345-6e551b087725", good, tokens(38589, 52), 0.194245, "", ""},                                              // blocking 90 s
		{"claude/mcpbad", "bc2e0d09-f6ca-4732-86c9-071e49e6a3af", good, tokens(19248, 42), 0.09729, "", ""},                                              // a server that cannot start
		{"claude/noauth", "bc0b2438-bc3b-4e8b-ae90-7ef2920f6a4f", refused, none, 0, "", ""},                                                              // no credentials
		{"claude/oauth_401", "b7f568a1-0fe3-4261-91ad-101580d1fddf", refused, none, 0, "", ""},                                                           // 401 OAuth, one more try after the refresh failed
		{"claude/oauth_and_key", "1b7754d1-a830-4167-a8ba-ca10951edcca", good, tokens(19164, 42), 0.09687, "", ""},                                       // the key wins
		{"claude/oauth_env", "0fd6d432-3f70-479d-a39f-ce93a402d3f0", good, tokens(28951, 27), 0.087258, "", ""},                                          // CLAUDE_CODE_OAUTH_TOKEN
		{"claude/oauth_env_usage5h", "3e9992af-a226-4faa-bfab-f498a6dee02c", limited, none, 0, "five_hour", "2026-11-21T05:14:21Z"},                      // 429 with unified headers rejected, five_hour, OAuth
		{"claude/oauth_expired", "da194146-dd72-46c1-b757-596a5aa273c2", good, tokens(19172, 42), 0.09691, "", ""},                                       // expired, refresh failed, the old token was sent
		{"claude/oauth_file", "cc7cff91-c46c-425f-a136-2bfaaee49860", good, tokens(19171, 27), 0.09653, "", ""},                                          // .credentials.json
		{"claude/oauth_mid", "100e686f-3a4f-43d8-93dc-b90f4355e6ba", limited, tokens(19171, 22), 0.096405, "five_hour", "2026-11-21T05:14:36Z"},          // 429 with unified headers, after work was done
		{"claude/oauth_usage5h", "d9c5b709-8464-45bd-832f-ee5e9b5acdf4", limited, none, 0, "five_hour", "2026-11-21T05:13:58Z"},                          // 429 with unified headers rejected, five_hour, OAuth
		{"claude/oauth_usage7d", "50de4153-bd58-4402-8c26-9a20ae864584", limited, none, 0, "seven_day", "2026-11-21T05:14:22Z"},                          // 429 with unified headers rejected, seven_day, OAuth
		{"claude/oauth_warn", "c8aed659-8dbf-43ba-a668-9cea91f79588", good, tokens(19172, 27), 0.096535, "", ""},                                         // unified allowed_warning 0.93 is no limit
		{"claude/overload", "9b051858-d071-4fdf-9baf-30392940b9d4", unreachable, none, 0, "", ""},                                                        // 529, 10 retries
		{"claude/overload_noretry", "b8cb0207-2e6e-4ab7-9ddc-a6473a1356c2", unreachable, none, 0, "", ""},                                                // 529, CLAUDE_CODE_MAX_RETRIES=0
		{"claude/overload_stream", "3d8fc8a0-f67c-4c19-96ff-02133b92ff4f", good, tokens(38350, 62), 0.1933, "", ""},                                      // overloaded once inside the stream
		{"claude/partial", "e41b2813-6249-44a9-ad15-0e78ba991b6c", good, tokens(19166, 26), 0.09648, "", ""},                                             // --include-partial-messages
		{"claude/perm-acceptEdits", "50433819-bd35-453d-8757-495d0a9e67cf", good, tokens(57800, 74), 0.29085, "", ""},                                    // permissions: acceptEdits
		{"claude/perm-allowed", "96f8bf76-ae57-4b78-92a6-5b733e6e76d5", good, tokens(57800, 74), 0.29085, "", ""},                                        // permissions: allowed
		{"claude/perm-bypass-disallow", "77766b96-868c-477d-9ea5-70577710d539", good, tokens(57317, 74), 0.288435, "", ""},                               // permissions: bypass-disallow
		{"claude/perm-default", "d59f30d6-2326-434f-b216-52d5258a03b9", good, tokens(57884, 74), 0.29127, "", ""},                                        // a denied tool does not end a run badly
		{"claude/perm-dontAsk", "5ac00f46-fc2c-4c9c-9226-1c8a37b68c5d", good, tokens(58299, 74), 0.293345, "", ""},                                       // a denied tool does not end a run badly
		{"claude/questions", "22222222-2222-4222-8222-222222222222", good, tokens(38496, 58), 0.19393, "", ""},                                           // ends its turn with a question
		{"claude/resume-after-sigkill", "33333333-3333-4333-8333-333333333334", good, tokens(38538, 55), 0.194065, "", ""},                               // after SIGKILL
		{"claude/resume-after-sigterm", "33333333-3333-4333-8333-333333333331", good, tokens(38722, 55), 0.194985, "", ""},                               // after SIGTERM
		{"claude/resume-elsewhere", "", failed, none, 0, "", ""},                                                                                         // unrelated directory; no init line
		{"claude/resume-fork", "97f192cc-14ee-4325-a2e8-40e07734bf9a", good, tokens(19605, 42), 0.099075, "", ""},                                        // --fork-session gives a new id
		{"claude/resume-missing", "", failed, none, 0, "", ""},                                                                                           // unknown --resume id, no init line
		{"claude/resume-otheracct", "", failed, none, 0, "", ""},                                                                                         // other CLAUDE_CONFIG_DIR, no init line
		{"claude/resume-otherwt", "22222222-2222-4222-8222-222222222222", good, tokens(19557, 42), 0.098835, "", ""},                                     // another worktree
		{"claude/resume", "22222222-2222-4222-8222-222222222222", good, tokens(38887, 55), 0.19581, "", ""},                                              // resumed in the same cwd
		{"claude/rl429", "433d395a-8bdf-4c17-a1f5-7fd848b2fb51", unreachable, none, 0, "", ""},                                                           // 429 rate_limit_error, retry-after 2, 10 retries; no reset is told
		{"claude/rl429x2", "3e8d327a-3313-4f1d-9f1d-ffa324bdbabc", good, tokens(19167, 28), 0.096535, "", ""},                                            // 429 twice then ok
		{"claude/schema", "0433fbc2-9fb3-4e50-9c57-dd7c83e9252d", good, tokens(38662, 66), 0.19496, "", ""},                                              // structured output
		{"claude/sighup", "33333333-3333-4333-8333-333333333335", good, tokens(38424, 50), 0.19337, "", ""},                                              // SIGHUP, the model answered at once
		{"claude/sigint-stream", "44444444-4444-4444-8444-444444444442", aborted, tokens(19171, 64), 0, "", ""},                                          // SIGINT, streaming
		{"claude/sigint", "33333333-3333-4333-8333-333333333332", aborted, tokens(19166, 25), 0.096455, "", ""},                                          // SIGINT, tool running
		{"claude/sigkill", "33333333-3333-4333-8333-333333333334", open, tokens(19167, 25), 0, "", ""},                                                   // SIGKILL
		{"claude/sigterm-stream", "33333333-3333-4333-8333-333333333333", open, none, 0, "", ""},                                                         // SIGTERM, streaming: only init
		{"claude/sigterm", "33333333-3333-4333-8333-333333333331", good, tokens(38426, 50), 0.19338, "", ""},                                             // SIGTERM, the model answered at once
		{"claude/sigterm2", "44444444-4444-4444-8444-444444444441", open, tokens(19169, 25), 0, "", ""},                                                  // SIGTERM, tool running: no result line
		{"claude/stdin-open", "198e0f66-d798-4660-b5d1-80b3c9dadeb5", good, tokens(19173, 42), 0.096915, "", ""},                                         // stdin left open
		{"claude/stdin-prompt", "1ffc068b-f9e4-4b16-a041-4531e2c71ef7", good, tokens(19172, 42), 0.09691, "", ""},                                        // prompt from stdin
		{"claude/stophook", "99bb4504-e87f-4fb1-b888-800e828da518", good, tokens(57738, 77), 0.290615, "", ""},                                           // Stop hook
		{"claude/streamjson-input", "f93d4d63-7a36-4517-81d7-1a29d330d00e", good, tokens(38471, 68), 0.194055, "", ""},                                   // two turns, totals are of the process
		{"claude/success", "11111111-1111-4111-8111-111111111111", good, tokens(97023, 121), 0.48814, "", ""},                                            // a commit
		{"claude/switch-copied", "100e686f-3a4f-43d8-93dc-b90f4355e6ba", good, tokens(38749, 55), 0.19512, "", ""},                                       // after copying the transcript
		{"claude/switch-envtoken", "100e686f-3a4f-43d8-93dc-b90f4355e6ba", good, tokens(38737, 55), 0.19506, "", ""},                                     // other token, same directory
		{"claude/switch-nocopy", "", failed, none, 0, "", ""},                                                                                            // other CLAUDE_CONFIG_DIR, nothing copied
		{"claude/text", "e9e87729-d441-4332-a241-b394c89a99f4", good, tokens(19164, 42), 0.09687, "", ""},                                                // no tool
		{"claude/usage-limit-midway", "100e686f-3a4f-43d8-93dc-b90f4355e6ba", limited, tokens(19171, 22), 0.096405, "five_hour", "2026-11-21T05:14:36Z"}, // 429 with unified headers, after work was done
		{"claude/usage-limit", "d9c5b709-8464-45bd-832f-ee5e9b5acdf4", limited, none, 0, "five_hour", "2026-11-21T05:13:58Z"},                            // 429 with unified headers rejected, five_hour, OAuth
		{"claude/usage_pipe", "736b71d5-eff6-4fcb-b5ea-282fde4cc73f", limited, none, 0, "", "2026-11-21T05:09:29Z"},                                      // 429 "Claude AI usage limit reached|1795237769": the epoch is passed through
		{"claude/usage_unified", "81589f3d-b048-461d-bdb5-345e20df5b63", unreachable, none, 0, "", ""},                                                   // 429 with unified headers and an API key: no rate_limit_event, no reset, words of a rate
	}
}
