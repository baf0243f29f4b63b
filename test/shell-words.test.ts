import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const HOME = join(import.meta.dirname, '..');
const TEXTS = [
  'src/**/*.ts',
  'skills/*/add/**/*.ts',
  'skills/*/SKILL.md',
  'skills/*/manifest.yaml',
];
const COMMENT = /^\s*(?:\*|\/\/|\/\*)/;
const BARE = /(?<!npx |\.mjs )\bclaw setup\b/;

test('what the assistant and its skills tell people to type in a shell can be typed as it is', () => {
  const bare = globSync(TEXTS, { cwd: HOME }).flatMap((path) =>
    readFileSync(join(HOME, path), 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        !path.endsWith('.test.ts') && !COMMENT.test(line) && BARE.test(line)
          ? [`${path}:${index + 1}: ${line.trim()}`]
          : [],
      ),
  );
  expect(bare).toEqual([]);
});

/** The beginning of a command in a text. Sentences such as “git has lost …” are none. */
const COMMAND =
  /\b(?:claw|git|npm) (?!by |has |holder|is |itself|keeps |knows |left |merges )[a-z]|--[a-z-]+[ =]\$/;
/** What ends a command within a sentence. */
const END = /(?<!\\)\\`|[.,:;](?: |$)| \(| {2}/;
const VALUE = /\$\{((?:[^{}]|\{[^{}]*\})*)\}/g;

/** Values in printed commands that need no quotes, each with the reason. */
const PLAIN: readonly (readonly [value: RegExp, why: string])[] = [
  [/^(?:shellWords?|allowFlags)\(/, 'is quoted'],
  [/^[A-Z][A-Z_]*$/, 'a constant'],
  [
    /(?:^|\.)(?:layer|name|skill)$/,
    'a schema allows letters, digits and dashes in the name of a skill',
  ],
  [/^key$/, 'digits of a digest'],
  [/\.slice\(0, \d+\)$/, 'digits of a commit'],
  [/version$/, 'a version as a schema allows it'],
  [/\bverb$/, 'a word of claw’s own'],
  [/^command\.name\(\)$/, 'a word of claw’s own'],
  [/^(?:baseUrl|text)$/, 'what was typed, to name a fault of it'],
  [/^(?:SHELLS|\[\.\.\.rebuilt\])\.join/, 'constants; a step that is reported'],
  [/^(?:who|mark)$/, 'no part of a command that is printed to be typed'],
];

/** Files whose command lines are read by a program, or are not printed. */
const NO_ADVICE =
  /^src\/(?:testing|sandbox|supervisor|channels|host\/changes\/conflicts)\/|lines\.ts$|driver-command\.ts$|unified\.ts$/;

test('names from outside are quoted in the commands that owners are told to type', () => {
  const bare = globSync('src/{engine,cli}/**/*.ts', { cwd: HOME }).flatMap((path) =>
    path.endsWith('.test.ts') || NO_ADVICE.test(path)
      ? []
      : readFileSync(join(HOME, path), 'utf8')
          .split('\n')
          .flatMap((line, index) =>
            COMMENT.test(line)
              ? []
              : bareValues(line).map((value) => `${path}:${index + 1}: ${value}`),
          ),
  );
  expect(bare).toEqual([]);
});

/** Returns the values in the commands of a line of code that are not quoted and not known to be plain. */
function bareValues(line: string): readonly string[] {
  const values: string[] = [];
  // What is computed counts as one word, whatever signs the code has in it.
  const text = line.replaceAll(VALUE, (_, value: string) => `$${values.push(value) - 1}$`);
  const commands = text.matchAll(new RegExp(COMMAND, 'g'));
  const found = [...commands].flatMap(({ index }) => {
    const [command = ''] = text.slice(index).split(END);
    return [...command.matchAll(/\$(\d+)\$/g)].map(([, at]) => values[Number(at)] ?? '');
  });
  const inside = values.flatMap((value) => bareValues(value));
  return [...new Set([...inside, ...found])].filter(
    (value) => !PLAIN.some(([plain]) => plain.test(value)),
  );
}

/** Words that readers had to decode, each with what is said instead. */
const DECODED: readonly (readonly [decoded: RegExp, instead: string])[] = [
  [/but for those of skills/, 'except the skills’ own'],
  [/any node from 18/i, 'You need git, npm and Node 18 or newer'],
  [/is where you write/i, 'Meets you where you chat'],
  [/what takes long says/, 'long steps report their progress'],
  [/where a messenger can change/, 'in messengers that can edit a sent message'],
  [/shows itself as broken/, 'problems that show up later'],
  [/of the skills five/, 'shortened: five of the skills'],
  [/whose (?:each line|the lines of a file)/, 'who each line comes from'],
  [/the operation that waits needs/, 'show the open conflicts'],
  [/go on with the operation that waits/, 'finish the waiting command'],
  [/runs or steers programs/, 'can run code or configure tools'],
  [/only if the plan is this one/, 'unless the plan is still this one'],
  [/how a chat calls/, 'the word that calls me in a chat'],
  [/pauses one, and so/, '`/tasks pause|resume|cancel|run|log 2`'],
  [/`\/sandbox docker` no longer/, 'turns that off'],
  [/what answers, by a key/, 'Model: not set up. Connect one now?'],
  [/made in the web console of/, 'API key'],
  [/asking \S+ for one word/i, 'Trying the model'],
  [/set-up left; nothing/i, 'Set-up cancelled; nothing was written.'],
  [/tells how far it is/, 'see /status for progress'],
  [/as the owner asked/, 'Stopped.'],
  [/(?:take|as) core without/, 'use the release’s version'],
  [/all is decided/i, 'All conflicts are resolved.'],
  [/is installed here yet: /, 'No skills yet. Add one'],
  [/tokens today; without a known/, 'price unknown'],
  [/No file of the project changes/, 'No project file had to change.'],
  [/still to be written/i, 'Left for you to write'],
  [/neither it nor its base/, 'not built yet'],
  [/'All is well/, 'Everything works.'],
  [/manager of services does not/, 'The service manager does not answer'],
  [/layers count together/i, 'you are not asked'],
  [/first end of the\s+range/, 'unless the first commit is an ancestor'],
  [/none the worse/, 'It is optional.'],
  [/Who is heard/, 'Who may talk to it'],
  [/Leaves with it/, 'Code that depends on it'],
  [/Looked at(?: instead)?:|Also looked at|\bwere weighed\b/, 'Also considered'],
  [/[,.] (?:by|in) turns\b/i, 'interleaved'],
  [/what for:/i, 'Used for'],
];

test('what people read has none of the words that readers had to decode', () => {
  const pages = ['README.md', 'docs/*.md', 'docs/decisions/*.md', 'changes/*.md'];
  const read = [...TEXTS, ...pages, 'container/**/*.ts', 'scripts/**/*.ts'];
  const found = globSync(read, { cwd: HOME })
    .filter((path) => !path.endsWith('.test.ts') && !path.includes('node_modules'))
    .flatMap((path) => {
      const text = readFileSync(join(HOME, path), 'utf8');
      return DECODED.flatMap(([decoded, instead]) =>
        decoded.test(text) ? [`${path}: ${decoded.source} → ${instead}`] : [],
      );
    });
  expect(found).toEqual([]);
});
