// What a program beside the engine needs to bring verbs of its own to the command line. Commander is among it: an error
// of another copy would not be known for a wrong argument.
export { Argument, type Command, InvalidArgumentError, Option } from 'commander';
export { painted, type Screen, screenOf, wrapped } from '../text/screen.ts';
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
} from '../verbs.ts';
export { calledVerb } from './called-verb.ts';
export { CliError, type CommandError } from './command-error.ts';
export type { Additions, Beside, Invocation, RunVerb, Verbs } from './edition.ts';
export { createContext } from './engine/invocation.ts';
export { type CliResult, type DiscoveredResult, ended } from './result.ts';
