import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render } from "preact";
import { useLayoutEffect } from "react";
import { expect, test, vi } from "vitest";
import { useMutation } from "./useMutation";

test("what is sent before a render was painted is what that render shows", async () => {
  const sent: string[] = [];
  const queries = new QueryClient();
  const Form = ({ text }: { text: string }) => {
    const { mutate } = useMutation({ mutationFn: () => Promise.resolve(sent.push(text)) });
    useLayoutEffect(() => mutate(), [text, mutate]);
    return null;
  };
  const show = (text: string) => render(<QueryClientProvider client={queries}>{(<Form text={text} />) as never}</QueryClientProvider>, document.body);
  show("the wor");
  await vi.waitFor(() => expect(sent).toEqual(["the wor"]));
  show("the word");
  await vi.waitFor(() => expect(sent).toHaveLength(2));
  expect(sent).toEqual(["the wor", "the word"]);
});
