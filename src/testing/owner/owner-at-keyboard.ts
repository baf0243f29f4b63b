import type { SetupContext } from '../../setup/step.ts';

/**
 * Answers the questions of a set-up step as an owner at the keyboard: in order, each question as often as it takes to
 * find an answer that fits.
 *
 * @public for the tests of skills
 */
export function ownerAtKeyboard(answers: readonly string[]) {
  const left = [...answers];
  const problems: string[] = [];
  const said: string[] = [];
  const written: Record<string, string> = {};
  const context: SetupContext = {
    dataDir: '/nowhere/data',
    args: [],
    isInteractive: true,
    say: (text) => void said.push(text),
    async ask({ check }) {
      for (let typed = left.shift(); typed !== undefined; typed = left.shift()) {
        const problem = await check(typed);
        if (problem === null) return typed;
        problems.push(problem);
      }
      throw new Error('the owner has left');
    },
    write: (values) => void Object.assign(written, values),
    signal: new AbortController().signal,
  };
  return { context, problems, said, written, left };
}
