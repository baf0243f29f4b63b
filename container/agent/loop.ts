import { generateText, isStepCount, type ToolSet } from 'ai';
import type { TurnFrame } from '../../src/sandbox/protocol/frames.ts';
import { modelFault, noticeOfEnd } from './answer-end.ts';
import type { CallableModel } from './model.ts';
import type { PromptWriter } from './system-prompt.ts';
import { type LoopMaker, type ToolParts, toolSet } from './toolset.ts';

const SYSTEM =
  'You work on one part of a larger task, for an assistant that will read your last message and nothing else. Do what you are asked with the tools you have, and answer with the result alone.';

/** Returns the tools of a turn; each of the agent's own can run a loop with the others. */
export function toolsWithLoops(
  frame: TurnFrame,
  parts: ToolParts & { readonly prompts: PromptWriter },
  model: CallableModel,
): ToolSet {
  const inLoop = toolSet(frame, parts, refuseLoop);
  const loopFor: LoopMaker =
    ({ tool, signal }) =>
    async ({ prompt, system = SYSTEM, tools, maxRounds = frame.maxRounds }) => {
      const names = tools ?? Object.keys(inLoop).filter((name) => name !== tool);
      const own = await parts.prompts.forLoop({ frame, tools: names });
      const { text, finishReason, rawFinishReason } = await generateText({
        model,
        instructions: own === '' ? system : `${system}\n\n${own}`,
        prompt,
        tools: frame.model.callsTools ? chosen(inLoop, names) : {},
        stopWhen: isStepCount(Math.min(maxRounds, frame.maxRounds)),
        abortSignal: signal,
      }).catch((error: unknown) => {
        throw signal.aborted ? error : new Error(modelFault(error), { cause: error });
      });
      const notice = noticeOfEnd({ finishReason, rawFinishReason }, text.trim() !== '');
      return [text, ...(notice === null ? [] : [notice])].join('\n\n').trim();
    };
  return toolSet(frame, parts, loopFor);
}

const refuseLoop: LoopMaker = () => async () => {
  throw new Error('A tool that is called within a loop cannot run one.');
};

function chosen(tools: ToolSet, names: readonly string[]): ToolSet {
  const unknown = names.filter((name) => tools[name] === undefined);
  if (unknown.length > 0) throw new Error(`The turn has no tool ${unknown.join(', ')}.`);
  return Object.fromEntries(names.flatMap((name) => (tools[name] ? [[name, tools[name]]] : [])));
}
