// Who may import whom. The rules of ARCHITECTURE.md as configuration.
/** @param {string} name @param {string} from @param {string} allowed @param {string} comment */
const only = (name, from, allowed, comment) => ({
  name,
  comment,
  severity: 'error',
  from: { path: from, pathNot: '\\.test\\.ts$|^packages/.*/testing/' },
  to: { path: '^(packages|src|bin|container|scripts|test)/', pathNot: allowed },
});

/** Result schemas: data, which programs beside the engine may read as well. */
const CONTRACT = '^packages/claw/src/contract/';

/** Imports Node's built-ins alone, and knows whether claw wrote something in this folder. */
const RECOVER = '^packages/claw/src/transaction/recover\\.js$';

/** What any part of the engine may import: the merge by its public face, and files that need nothing else of ours. */
const ENGINE_LEAVES =
  '^packages/merge/src/index\\.ts$|^packages/claw/src/(errors|digest|conflict|interrupted)\\.ts$';

/** Text for people. */
const TEXT = '^packages/claw/src/text/';

/** Files that every room of the assistant may import: settings, and those that need nothing but Node itself. */
const LEAVES = '^src/(lib/|(config|env-file|wrong-settings)\\.ts$)';

export default {
  forbidden: [
    {
      name: 'no-circular',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    only(
      'claw-alone',
      '^packages/claw/',
      '^packages/(claw/|merge/src/(index|git/index|git/raw)\\.ts$)',
      'The engine imports nothing outside itself but the merge, by its public face.',
    ),
    only(
      'contract',
      '^packages/claw/src/contract/',
      `^packages/claw/src/contract/|${ENGINE_LEAVES}`,
      'contract is data: what a result holds, for who makes, prints or parses it.',
    ),
    only('merge-pure', '^packages/merge/', '^packages/merge/', 'merge imports nothing of ours.'),
    only(
      'text-pure',
      '^packages/claw/src/text/',
      '^packages/claw/src/text/',
      'text knows characters and columns, and nothing of the engine.',
    ),
    only(
      'structured-pure',
      '^packages/claw/src/structured/',
      `^packages/claw/src/(structured/|package/manifest/manifest\\.ts)|${ENGINE_LEAVES}`,
      'structured imports nothing of ours but the manifest type.',
    ),
    only(
      'package',
      '^packages/claw/src/package/',
      `^packages/claw/src/(package|structured)/|${ENGINE_LEAVES}`,
      'package knows no composition.',
    ),
    only(
      'repository',
      '^packages/claw/src/repository/',
      `^packages/claw/src/repository/|${ENGINE_LEAVES}`,
      'repository asks git, and knows nothing of skills.',
    ),
    only(
      'installed',
      '^packages/claw/src/installed/',
      `^packages/claw/src/(installed|repository|package|structured)/|${RECOVER}|${ENGINE_LEAVES}`,
      'installed reads what is there, and composes nothing.',
    ),
    only(
      'compose',
      '^packages/claw/src/compose/',
      `^packages/claw/src/(compose|package|installed|structured)/|${ENGINE_LEAVES}`,
      'compose touches no disk and proves nothing.',
    ),
    only(
      'proof',
      '^packages/claw/src/proof/',
      `^packages/claw/src/(proof|installed|compose|package|structured)/|${ENGINE_LEAVES}`,
      'proof commits nothing.',
    ),
    only(
      'transaction',
      '^packages/claw/src/transaction/',
      `^packages/claw/src/(transaction|compose|package|installed|structured)/|${ENGINE_LEAVES}`,
      'transaction plans nothing.',
    ),
    only(
      'pending',
      '^packages/claw/src/pending/',
      `^packages/claw/src/(pending|compose|package|installed)/|${RECOVER}|${ENGINE_LEAVES}`,
      'pending keeps an operation that waits, and runs none.',
    ),
    only(
      'operation',
      '^packages/claw/src/operation/',
      `^packages/claw/src/(contract|operation|pending|proof|transaction|installed|repository|compose|package|structured)/|${ENGINE_LEAVES}`,
      'operation is the way of every verb, and knows none.',
    ),
    only(
      'decisions',
      '^packages/claw/src/decisions/',
      `^packages/claw/src/(contract|decisions|operation|pending|compose|package|installed)/|${ENGINE_LEAVES}`,
      'decisions are made of what waits; which verb goes on is not their business.',
    ),
    only(
      'verbs-that-look',
      '^packages/claw/src/verbs/((diff|list|log|show|status|verify)\\.ts$|(doctor|why)/)',
      `^packages/claw/src/(contract|operation|pending|proof|transaction|installed|repository|compose|package|text)/|^packages/claw/src/verbs/((diff|list|log|show|status|verify|print-changes)\\.ts$|(doctor|why|conflicts)/)|${ENGINE_LEAVES}`,
      'a verb that looks changes nothing.',
    ),
    only(
      'verbs',
      '^packages/claw/src/verbs/',
      '^packages/(merge/src/index\\.ts$|claw/src/(?!cli/|verbs\\.ts$|index\\.ts$))',
      'a verb plans and prints; the command line calls it.',
    ),
    {
      name: 'recover-builtins-only',
      comment: 'recover must work when nothing else of the project does.',
      severity: 'error',
      from: { path: '^packages/claw/src/transaction/recover\\.js$' },
      to: { dependencyTypesNot: ['core', 'type-only', 'type-import'] },
    },
    only(
      'channels',
      '^src/channels/',
      `^src/(channels/|http/route\\.ts$)|${LEAVES}`,
      'channels know neither store nor sandbox nor host.',
    ),
    only(
      'store',
      '^src/store/',
      `^src/store/|${LEAVES}`,
      'store knows neither channels nor sandbox nor host.',
    ),
    only(
      'sandbox',
      '^src/sandbox/',
      `^src/(sandbox|model)/|^container/agent/|^packages/merge/src/index\\.ts$|${LEAVES}`,
      'sandbox knows neither channels nor store nor host.',
    ),
    only('http', '^src/http/', `^src/http/|${LEAVES}`, 'http serves routes, and knows none.'),
    only('lib', '^src/lib/', '^src/lib/', 'lib imports nothing of ours.'),
    only(
      'model',
      '^src/model/',
      `^src/model/|${LEAVES}`,
      'model knows servers, not who asks them.',
    ),
    only(
      'host',
      '^src/host/',
      `^src/(host/|store/|model/|channels/(channel|kit/(notes|fetched-file|file-kind))\\.ts$|sandbox/sandbox\\.ts$|http/route\\.ts$)|${CONTRACT}|${TEXT}|${LEAVES}`,
      'host sees contracts, never a concrete channel; of the engine the contract of results, which is data.',
    ),
    only(
      'seams-of-the-host',
      '^src/(commands|guards|inbound-filters|prompt|services|tools)/',
      `^src/(commands|guards|inbound-filters|prompt|services|tools|host|store|model)/|^src/(channels/channel|sandbox/sandbox|http/route)\\.ts$|${CONTRACT}|${TEXT}|${LEAVES}`,
      'what the owner or an agent calls, and what guards that, works through the host.',
    ),
    only(
      'supervisor',
      '^src/supervisor/',
      `^src/(supervisor/|lib/|host/contracts/command\\.ts$|config\\.ts$|env-file\\.ts$|channels/console[^/]*\\.ts$)|${RECOVER}|${TEXT}`,
      'supervisor owns the terminal, starts the assistant, and takes back a tree that broke claw too.',
    ),
    only(
      'cli',
      '^src/cli/',
      '^src/(cli/|lib/|supervisor/(console|control)/|store/(budgets|read-only-queries|usage)\\.ts$|host/budget/(local-day|budget-report)\\.ts$|(config|env-file|wrong-settings)\\.ts$|model/(catalog/ask-for-list|completion|model|provider)\\.ts$|verb\\.ts$|setup/step\\.ts$|doctor/examination\\.ts$|proof-runners/proof-runner\\.ts$)|^packages/claw/src/(cli/(index|prompts)|text/index)\\.ts$',
      'cli calls; it does not do.',
    ),
    only(
      'verbs',
      '^src/verbs/',
      `^src/(verbs/|import/|verb\\.ts$|store/|channels/whatsapp/session/link-comparison\\.ts$|http/files\\.ts$|supervisor/((instance-lock|environment)\\.ts|restore-swap\\.js)$|supervisor/console/printable\\.ts$)|${TEXT}|${LEAVES}`,
      'a verb looks into the store, or talks to the running assistant by its call.',
    ),
    only(
      'proof-runners',
      '^src/proof-runners/',
      `^src/proof-runners/|^packages/claw/src/index\\.ts$|${LEAVES}`,
      'what runs proofs on other machines has the engine at both ends, and nothing of the assistant.',
    ),
    only(
      'import',
      '^src/import/',
      `^src/(import/|store/|channels/whatsapp/session/link-(database|state)\\.ts$|host/scheduler/(calendar|duration|schedule|task-refused)\\.ts$|host/groups/(folder-name|trigger)\\.ts$)|${LEAVES}`,
      'import reads the stores of other assistants, and writes ours while no assistant runs.',
    ),
    only(
      'verb',
      '^src/verb\\.ts$',
      '^src/lib/',
      'the contract of verbs is light: it is loaded with each of them.',
    ),
    only(
      'console',
      '^src/supervisor/console/',
      `^src/(supervisor/console/|lib/)|${TEXT}`,
      'console shows text and reads lines; whose they are is not its business.',
    ),
    only(
      'control',
      '^src/supervisor/control/',
      '^src/(supervisor/control/|lib/(answer-end|bounded-json)\\.ts$)',
      'control carries messages between a shell and the assistant, and knows neither.',
    ),
    only(
      'doctor',
      '^src/doctor/',
      `^src/((doctor|http|sandbox|model|store|channels|tools|guards|inbound-filters|supervisor)/|(contributions|parts)\\.ts$)|${LEAVES}`,
      'an examination looks at any part of the assistant, and changes none.',
    ),
    only(
      'setup',
      '^src/setup/',
      `^src/((setup|channels|tools)/|http/files\\.ts$|model/embeddings\\.ts$|supervisor/console/terminal-code\\.ts$)|${LEAVES}`,
      'a set-up step prepares one part of the assistant, and knows no other.',
    ),
    {
      name: 'no-testing-in-product',
      severity: 'error',
      from: {
        path: '^(packages|src|container|bin)/',
        pathNot: '\\.test\\.ts$|/testing/|^packages/merge/tests/',
      },
      to: { path: '^src/testing/' },
    },
    {
      name: 'one-way-to-ask',
      comment:
        'What a person decides by is written so that it cannot mislead: packages/claw/src/cli/prompts.ts sees to it.',
      severity: 'error',
      from: {
        path: '^(packages|src|bin|scripts)/',
        pathNot: '^packages/claw/src/cli/prompts\\.ts$|\\.test\\.ts$',
      },
      to: { path: 'node_modules/@clack/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules|^src/testing/' },
    exclude: {
      path: '^(skills|data|\\.claw|packages/claw/lib|test/seams/(dashboard-)?packages)/|\\.test\\.ts$|^test/|^scripts/bench/',
    },
    // TypeScript 7 is no parser library; swc reads everything but `using`, which only tests and benchmarks use.
    parser: 'swc',
    tsPreCompilationDeps: true,
    // Packages of skills may be found by `import` alone.
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['patchclaw-source', 'import', 'require', 'node', 'default'],
    },
    moduleSystems: ['es6', 'cjs'],
  },
};
