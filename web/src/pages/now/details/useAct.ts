import { useCw } from "../../../app/cw";
import { say, sayFailed } from "../../../app/notices";
import { wordsOf } from "../../../api/problem";
import type { Client } from "../../../api/client";
import { useMutation, useOneAtATime } from "../../../lib/useMutation";

interface Options<In> {
  act: (client: Client, input: In) => Promise<unknown>;
  /** What was done, in a few words. */
  done: (input: In) => string;
  onDone: () => void;
}

/** One act of a detail, one at a time: it says what was done, or what could not be, and has the inbox read anew. */
export function useAct<In = void>({ act, done, onDone }: Options<In>) {
  const { client, queries } = useCw();
  const doing = useMutation({
    mutationFn: (input: In) => act(client, input),
    onSuccess: (_, input) => {
      say(done(input));
      onDone();
    },
    onError: (error) => sayFailed(wordsOf(error)),
    onSettled: () => queries.invalidateQueries({ queryKey: ["inbox"] }),
  });
  return { ...doing, mutate: useOneAtATime(doing) };
}
