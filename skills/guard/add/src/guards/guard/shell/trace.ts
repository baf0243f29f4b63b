import { type Command, type Node, type ParsedScript, parse, type Redirect } from 'unbash';
import { lossesInCode, SQL_CLIENT } from './code-losses.ts';
import {
  CODE_OPTION,
  DECLARES,
  DOWNLOAD,
  hasManyBraces,
  INTERPRETER,
  isBomb,
  type Origin,
  originOf,
  plainPath,
  READS,
  SHELL,
} from './kinds.ts';
import { type Loss, Losses } from './losses.ts';
import { commandsInRules, rulesOf } from './makefiles.ts';
import { type Call, outputOf } from './outputs.ts';
import type { Trace } from './trace-result.ts';
import { setParameters, setVariables } from './variables.ts';
import { type Scope, type Value, valuesOf, wholeValue } from './word-values.ts';
import * as wrappers from './wrappers.ts';

const DEEPEST = 12;
const MOST_STEPS = 20_000;

/** The input of a command: its text, or where that comes from. */
type Input = { readonly text: Value; readonly from: ReadonlySet<Origin> };

const NO_INPUT: Input = { text: null, from: new Set() };

/** Follows a text through the shell without running it. */
export function traceShell(text: string): Trace {
  const trace = new ShellTrace();
  trace.follow(text);
  return trace;
}

/** A shell that notes what it would run, with the variables, functions and files that the text makes. */
class ShellTrace implements Trace {
  readonly calls: Call[] = [];
  readonly written: Value[] = [];
  readonly code: { language: string; text: string }[] = [];
  readonly unknown: string[] = [];
  readonly piped: ('download' | 'unpacked')[] = [];
  readonly bombs: string[] = [];
  readonly own = new Set<string>();
  readonly faults: string[] = [];
  readonly #losses = new Losses();
  readonly sql: string[] = [];
  readonly #aliases = new Map<string, string>();
  readonly #functions = new Map<string, Node>();
  readonly #uncalled = new Set<Node>();
  /** Files that this text writes, with what is in them. */
  readonly #files = new Map<string, Value>();
  readonly #downloaded = new Set<string>();
  readonly #scope: Scope = {
    variables: new Map(),
    outputOf: (script) => this.#losses.inSubshell(() => this.#runScript(script, NO_INPUT)),
  };
  #depth = 0;
  #steps = 0;

  get losses(): readonly Loss[] {
    return this.#losses.all;
  }

  follow(text: string): void {
    this.#runText(text);
    for (const body of this.#uncalled) this.#runFunction(body, [null], NO_INPUT);
  }

  /** Follows a text that a shell is given. */
  #runText(given: string, input: Input = NO_INPUT): Value {
    if (this.#depth >= DEEPEST) {
      this.unknown.push('a command inside many others');
      return null;
    }
    if (hasManyBraces(given)) {
      this.unknown.push('a word of so many braces');
      return null;
    }
    const script = parse(given);
    this.faults.push(...(script.errors ?? []).map(({ message }) => message));
    return this.#runScript(script, input);
  }

  #runScript(script: ParsedScript, input: Input): Value {
    this.#depth += 1;
    const outputs = script.commands.map((one) => this.#runNode(one, input));
    this.#depth -= 1;
    return outputs.some((one) => one === null) ? null : outputs.join('\n');
  }

  #runAll(nodes: readonly (Node | undefined)[], input: Input): Value {
    const outputs = nodes.flatMap((one) => (one === undefined ? [] : [this.#runNode(one, input)]));
    return outputs.some((one) => one === null) ? null : outputs.join('\n');
  }

  #runNode(node: Node, input: Input): Value {
    this.#steps += 1;
    if (this.#steps > MOST_STEPS) {
      if (this.#steps === MOST_STEPS + 1) this.unknown.push('what it does after so many steps');
      return null;
    }
    switch (node.type) {
      case 'Statement':
        return this.#runNode(node.command, this.#inputFrom(node.redirects, input));
      case 'Command':
        return this.#runCommand(node, input);
      case 'Pipeline':
        return this.#runPipeline(node.commands, input);
      case 'AndOr':
      case 'CompoundList':
        return this.#runAll(node.commands, input);
      case 'Subshell':
      case 'Coproc':
        return this.#losses.inSubshell(() => this.#runNode(node.body, input));
      case 'BraceGroup':
        return this.#runNode(node.body, input);
      case 'If':
        return this.#runAll([node.clause, node.then, node.else], input);
      case 'While':
        return this.#runAll([node.clause, node.body], input);
      case 'For':
      case 'Select':
        for (const word of node.wordlist) {
          for (const value of valuesOf(word, this.#scope)) {
            this.#scope.variables.set(node.name.value, value);
            this.#runNode(node.body, input);
          }
        }
        this.#scope.variables.set(
          node.name.value,
          node.wordlist.length === 0 ? null : (this.#scope.variables.get(node.name.value) ?? null),
        );
        return node.wordlist.length === 0 ? this.#runNode(node.body, input) : null;
      case 'ArithmeticFor':
        return this.#runNode(node.body, input);
      case 'Case':
        return this.#runAll(
          node.items.map(({ body }) => body),
          input,
        );
      case 'Function':
        this.own.add(node.name.value);
        this.#defineFunction(node.name.value, node.body);
        if (isBomb(node.name.value, node.body)) this.bombs.push(node.name.value);
        return '';
      default:
        return null; // Tests and sums run nothing.
    }
  }

  #runPipeline(commands: readonly Node[], input: Input): Value {
    let before = input;
    for (const command of commands) {
      const start = this.calls.length;
      const given = before;
      const text = this.#losses.inSubshell(() => this.#runNode(command, given));
      before = { text, from: new Set([...before.from, ...this.#originsSince(start)]) };
    }
    return before.text;
  }

  #originsSince(start: number): readonly Origin[] {
    return this.calls.slice(start).map(({ program }) => originOf(program));
  }

  #runCommand(command: Command, given: Input): Value {
    for (const { name, value, array } of command.prefix) {
      if (name === undefined) continue;
      const isKnown = array === undefined && value !== undefined;
      this.#scope.variables.set(
        name,
        isKnown ? wholeValue(value, this.#scope) : value === undefined ? '' : null,
      );
    }
    const input = this.#inputFrom(command.redirects, given);
    if (command.name === undefined) return '';
    const fromProcess = this.#processesInWords([command.name, ...command.suffix]);
    const words = [command.name, ...command.suffix].flatMap((word) => valuesOf(word, this.#scope));
    if (DOWNLOAD.test(words[0]?.replace(/^.*\//, '') ?? '')) {
      for (const { operator, target } of command.redirects) {
        if (operator.startsWith('>') && target !== undefined) {
          this.#downloaded.add(wholeValue(target, this.#scope) ?? '');
        }
      }
    }
    const output = this.#run(
      words,
      fromProcess.size === 0 ? input : { text: null, from: fromProcess },
    );
    this.#noteFiles(command.redirects, output);
    return output;
  }

  #noteFiles(redirects: readonly Redirect[], text: Value): void {
    for (const { operator, target } of redirects) {
      const path = target === undefined ? null : wholeValue(target, this.#scope);
      if (path !== null && /^(?:>|>>|>\||&>)$/.test(operator))
        this.#files.set(plainPath(path), text);
    }
  }

  /** Runs words: the first is the program. */
  #run(words: readonly Value[], input: Input): Value {
    const [first, ...args] = words;
    if (first === undefined) return '';
    const program =
      first === null || /[*?[]/.test(first.replace(/^\[{1,2}$/, ''))
        ? null
        : first.replace(/^.*\//, '');
    this.calls.push({ program, path: first, args });
    if (first === null || program === null) {
      this.unknown.push('the program itself');
      return null;
    }
    if (this.#downloaded.has(first) || this.#downloaded.has(program)) this.piped.push('download');
    const alias = this.#aliases.get(program);
    if (alias !== undefined) {
      this.#aliases.delete(program);
      const output = this.#runText(`${alias} ${args.map((arg) => arg ?? '"$@"').join(' ')}`, input);
      this.#aliases.set(program, alias);
      return output;
    }
    const body = this.#functions.get(program);
    if (body !== undefined) return this.#runFunction(body, args, input);
    const script = this.#files.get(plainPath(first));
    if (typeof script === 'string') return this.#runText(script, input);
    return this.#runKnown(program, args, input);
  }

  /** A body is followed where it is called, with its words; one that never is, at the end. */
  #defineFunction(name: string, body: Node): void {
    const earlier = this.#functions.get(name);
    if (earlier !== undefined && this.#uncalled.has(earlier))
      this.#runFunction(earlier, [null], NO_INPUT);
    this.#functions.set(name, body);
    this.#uncalled.add(body);
  }

  #runFunction(body: Node, args: readonly Value[], input: Input): Value {
    this.#uncalled.delete(body);
    if (this.#depth >= DEEPEST) return null; // It calls itself.
    this.#depth += 1;
    setParameters(this.#scope.variables, args);
    const output = this.#runNode(body, input);
    for (const name of ['@', '*', ...'123456789']) this.#scope.variables.delete(name);
    this.#depth -= 1;
    return output;
  }

  #runKnown(program: string, args: readonly Value[], input: Input): Value {
    this.#losses.called(program, args);
    this.#noteDownload(program, args);
    if (DECLARES.test(program) || READS.test(program))
      setVariables(this.#scope.variables, program, args);
    if (program === 'set' && args.includes('--'))
      setParameters(this.#scope.variables, args.slice(args.indexOf('--') + 1));
    if (SHELL.test(program)) return this.#runShell(args, input);
    if (/^(?:su|runuser|script)$/.test(program) && args.includes('-c'))
      return this.#runShell(args, input);
    if (program === 'eval')
      return args.some((arg) => arg === null)
        ? this.#unknownText()
        : this.#runText(args.join(' '), input);
    if (program === 'source' || program === '.') return this.#runFile(args[0] ?? null, input);
    if (program === 'trap') return typeof args[0] === 'string' ? this.#runText(args[0]) : null;
    if (program === 'alias') return this.#defineAliases(args);
    if (program === 'find') {
      for (const words of wrappers.executedByFind(args)) this.#run(words, NO_INPUT);
      return null;
    }
    if (wrappers.isWrapper(program)) {
      const words = wrappers.wrapped(program, args);
      if (program === 'watch' || program === 'ssh' || (program === 'env' && args.includes('-S'))) {
        const text = words.filter((one) => one !== '-S').map((one) => one ?? '"$@"');
        return this.#runText(text.join(' '), input);
      }
      if (words.length === 0) return null;
      if (program !== 'xargs') return this.#run(words, input);
      return this.#run(wrappers.withReadWords(words, args, input.text), NO_INPUT);
    }
    if (/^g?make$/.test(program)) {
      const { files, texts } = rulesOf(args);
      for (const file of files) this.#runFile(file, input, commandsInRules);
      for (const text of texts) this.#runText(text === null ? '"$@"' : commandsInRules(text));
    }
    if (SQL_CLIENT.test(program))
      this.sql.push(...[...args, input.text].filter((text) => text !== null));
    if (program === 'git') for (const text of wrappers.commandsOfGit(args)) this.#runText(text);
    const interpreter = INTERPRETER.exec(program)?.[1];
    if (interpreter !== undefined) return this.#runInterpreter(interpreter, args, input);
    return outputOf({ program, args }, input.text);
  }

  #runShell(args: readonly Value[], input: Input): Value {
    const at = args.findIndex((arg) => arg !== null && /^-[a-z]*c[a-z]*$/.test(arg));
    if (at !== -1) {
      const text = args[at + 1] ?? null;
      return text === null ? this.#unknownText() : this.#runText(text, input);
    }
    const file = args.find((arg) => arg === null || !/^[-+]/.test(arg));
    if (file !== undefined && !args.includes('-s')) return this.#runFile(file, input);
    return input.text === null ? this.#runUnknownInput(input) : this.#runText(input.text);
  }

  /** A file of the folder was written before, and can be read by the owner; a process writes what it likes. */
  #runFile(file: Value, input: Input, commandsIn = (text: string) => text): Value {
    if (file === null) return this.#runUnknownInput(input);
    const isInput = /^\/dev\/(?:stdin|fd\/0)$/.test(file);
    const text = isInput ? input.text : this.#files.get(plainPath(file));
    if (typeof text === 'string')
      return this.#runText(commandsIn(text), isInput ? NO_INPUT : input);
    if (isInput) return this.#runUnknownInput(input);
    if (this.#downloaded.has(file) || this.#downloaded.has(file.replace(/^.*\//, '')))
      this.piped.push('download');
    return null;
  }

  #runUnknownInput({ from }: Input): Value {
    if (from.has('download')) this.piped.push('download');
    else if (from.has('unpacked')) this.piped.push('unpacked');
    else if (from.has('other')) this.#unknownText();
    return null;
  }

  #unknownText(): null {
    this.unknown.push('the text that a shell is given');
    return null;
  }

  #runInterpreter(language: string, args: readonly Value[], input: Input): Value {
    if (/awk$/.test(language)) {
      const text = args.find((arg) => arg !== null && !arg.startsWith('-'));
      if (typeof text === 'string') this.#noteCode(language, text);
      return null;
    }
    const at = args.findIndex((arg) => arg !== null && CODE_OPTION.test(arg));
    const text = at === -1 ? null : (args[at + 1] ?? null);
    if (at !== -1 && text === null) return this.#unknownText();
    if (text !== null) this.#noteCode(language, text);
    else if (args.length === 0 || args[0] === '-') {
      if (input.text !== null) this.#noteCode(language, input.text);
      else if (input.from.size > 0) return this.#runUnknownInput(input);
    }
    return null;
  }

  #noteCode(language: string, text: string): void {
    this.code.push({ language, text });
    for (const { how, effect, path } of lossesInCode(text)) this.#losses.ofCode(how, effect, path);
  }

  #defineAliases(args: readonly Value[]): Value {
    for (const arg of args) {
      const [, name = '', text = ''] = /^([^=]+)=([\s\S]*)$/.exec(arg ?? '') ?? [];
      if (name === '') continue;
      this.own.add(name);
      this.#aliases.set(name, text);
      this.#runText(text);
    }
    return '';
  }

  #inputFrom(redirects: readonly Redirect[], input: Input): Input {
    let read = input;
    for (const { operator, target, body, content, heredocQuoted } of redirects) {
      if (/^(?:>|>>|>\||&>|&>>|<>)$/.test(operator) && target !== undefined) {
        const path = wholeValue(target, this.#scope);
        this.written.push(path);
        this.#losses.redirected(operator, path);
      } else if (operator === '<<<' && target !== undefined) {
        read = { text: wholeValue(target, this.#scope), from: NO_INPUT.from };
      } else if (operator.startsWith('<<')) {
        const isPlain = heredocQuoted === true || body === undefined;
        read = {
          text: isPlain ? (content ?? '') : wholeValue(body, this.#scope),
          from: NO_INPUT.from,
        };
      } else if (operator === '<') read = { text: null, from: this.#processesInWords([target]) };
    }
    return read;
  }

  /** Programs whose output a word like `<(…)` is. */
  #processesInWords(words: readonly (Command['name'] | undefined)[]): ReadonlySet<Origin> {
    const start = this.calls.length;
    for (const part of words.flatMap((word) => word?.parts ?? [])) {
      if (part.type === 'ProcessSubstitution' && part.script !== undefined)
        this.#runScript(part.script, NO_INPUT);
    }
    return new Set(this.#originsSince(start));
  }

  #noteDownload(program: string, args: readonly Value[]): void {
    if (!DOWNLOAD.test(program)) return;
    args.forEach((arg, index) => {
      const next = args[index + 1];
      if (/^-(?:o|O|-output|-output-document)$/.test(arg ?? '') && typeof next === 'string') {
        this.#downloaded.add(next);
      }
      if (program === 'wget' || args.includes('-O'))
        this.#downloaded.add((arg ?? '').replace(/^.*\//, ''));
    });
    this.#downloaded.delete('');
    this.#downloaded.delete('-');
  }
}
