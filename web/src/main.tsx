import { QueryClient } from "@tanstack/react-query";
import { createRoot } from "react-dom/client";
import { Client } from "./api/client";
import { Live } from "./api/live";
import { Problem } from "./api/problem";
import { codeIn, endFormer, redeem, Session } from "./api/session";
import { App } from "./app/App";
import { say } from "./app/notices";
import { applyTheme } from "./app/theme";
import { letOldTreesGo } from "./lib/oldTrees";
import "./styles/main.css";

/** A code in the address is given away for a session, and leaves the address at once. */
async function signIn(session: Session): Promise<unknown> {
  const code = codeIn(location.hash);
  if (code === null) return null;
  history.replaceState(null, "", location.pathname + location.search);
  try {
    const former = session.held;
    session.keep(await redeem(code));
    if (former !== null) void endFormer(former);
    return null;
  } catch (error) {
    return error;
  }
}

letOldTreesGo();
const session = new Session(localStorage);
applyTheme();
const client = new Client(session);
const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // Events say when data are old; until then they are not.
      staleTime: Infinity,
      retry: (failures, error) => failures < 3 && error instanceof Problem && (error.status === 0 || error.status >= 500),
      refetchOnWindowFocus: false,
    },
  },
});
const live = new Live(client, queries, () => say("Some events are no longer to be had, so everything was read anew."));
const signInError = await signIn(session);
createRoot(document.getElementById("root") as HTMLElement).render(<App cw={{ client, queries, live }} signInError={signInError} />);
