// What a program beside the engine needs to bring verbs of its own to the command line. Commander is among it: an error
// of another copy would not be known for a wrong argument.
export { Argument, type Command, InvalidArgumentError, Option } from 'commander';
export {
  apply,
  ClawError,
  type CodeFacts,
  doctor,
  type EngineContext,
  findRoot,
  type ModelPrompt,
  type ModelReply,
  type ResultWith,
  shellWords,
  type VerbResult,
} from '../commands.ts';
export type { Additions } from './additions.ts';
export { calledVerb } from './called-verb.ts';
export { CliError, type CommandError } from './cli-error.ts';
export type { Beside } from './edition.ts';
export { createContext } from './engine/invocation.ts';
export { wrapped } from './render/wrapped.ts';
export { type CliResult, type DiscoveredResult, ended } from './result.ts';
export { painted, type Screen, screenOf } from './screen.ts';
export type { Invocation, RunVerb, Verbs } from './verb.ts';
