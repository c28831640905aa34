import { useQueries, useQuery } from "@tanstack/react-query";
import { useCw } from "../../../app/cw";
import { agentsQuery } from "../../../api/queries";
import { count } from "../../../lib/words";
import type { Item } from "../inbox/items";
import { Fact, Facts } from "../inbox/parts";

/** Where a result is, and how it is looked at. */
export function Where({ item }: { item: Item }) {
  const { client } = useCw();
  const agent = useQuery(agentsQuery(client)).data?.find((one) => one.id === item.agentId);
  const places = agent?.projects ?? [];
  const files = useQueries({
    queries: places.map((place) => ({
      queryKey: ["projects", "file", place.projectId, place.headCommit],
      queryFn: ({ signal }: { signal: AbortSignal }) => client.get("/v1/projects/{ref}/file", { path: { ref: place.projectId }, query: { at: place.headCommit }, signal }),
    })),
  });
  if (places.length === 0) return null;
  return (
    <Facts>
      {places.map((place, i) => {
        const run = files[i]?.data?.file.run;
        return (
          <div key={place.projectId} className="contents">
            <Fact name={places.length > 1 ? place.project : "Worktree"}>
              <code className="break-all">{place.cwd}</code>
            </Fact>
            <Fact name="Branch">
              <code>{place.branch}</code>, {count(place.stat.filesChanged, "file")}, <span className="text-done">+{place.stat.additions}</span> <span className="text-fail">−{place.stat.deletions}</span>
            </Fact>
            {run && <Fact name="Run it"><code>{run}</code></Fact>}
          </div>
        );
      })}
    </Facts>
  );
}
