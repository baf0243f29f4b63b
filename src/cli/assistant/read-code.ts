import { parse } from '@babel/parser';
import type { CodeFacts } from '@patchclaw/claw/cli';

/** Kinds of contributions that `claw` itself reads, each time it is called. */
const READ_BY_CLAW = new Set(['defineSetup', 'defineVerb', 'defineExamination']);
const SETTING = /^[A-Z][A-Z0-9_]{0,63}$/;
const NONE: CodeFacts = { settings: [], setUp: [], restart: null };

/**
 * Reads from a contribution's code the facts that its owner has to know: its settings, its set-up step, a restart.
 */
export function readCode(path: string, text: string): CodeFacts {
  // Nothing else defines a contribution or a schema of settings.
  if (!/\.ts$/.test(path) || !/\bdefine[A-Z]|\.object\(/.test(text)) return NONE;
  const calls = callsIn(text);
  const kinds = calls.flatMap(({ callee }) => (/^define[A-Z]/.test(callee) ? [callee] : []));
  const steps = calls.flatMap(({ callee, first }) =>
    callee === 'defineSetup' ? (stringIn(first, 'name') ?? []) : [],
  );
  const settings = calls.flatMap((call) => settingsOf(call, calls));
  return {
    settings: [...new Set(settings)],
    setUp: steps.map((name) => `npx claw setup ${name}`),
    restart: kinds.some((kind) => !READ_BY_CLAW.has(kind))
      ? 'say `/restart` in your own chat with the assistant'
      : null,
  };
}

type SyntaxNode = { readonly type: string; readonly [key: string]: unknown };
type Call = {
  /** The last name of what is called: `object` of `z.object(…)`. */
  readonly callee: string;
  readonly first: SyntaxNode | null;
  readonly node: SyntaxNode;
};

/** Returns the calls in a text; none where it cannot be parsed. */
function callsIn(text: string): readonly Call[] {
  try {
    const { program } = parse(text, {
      sourceType: 'module',
      plugins: ['typescript'],
      errorRecovery: true,
    });
    return nodesIn(program).flatMap(callOf);
  } catch {
    return []; // The checks of the proof say what is wrong with it.
  }
}

function callOf(node: SyntaxNode): readonly Call[] {
  const { callee, arguments: given } = node;
  if (node.type !== 'CallExpression' || !isNode(callee)) return [];
  const named = callee.type === 'MemberExpression' ? callee['property'] : callee;
  const [first] = Array.isArray(given) ? given : [];
  return [{ callee: nameOf(named) ?? '', first: isNode(first) ? first : null, node }];
}

/**
 * Returns the names in a schema: an object whose keys are all names of `.env`. One word without an
 * underscore is a key of data as well, and counts only in the settings of a definition.
 */
function settingsOf({ callee, first, node }: Call, calls: readonly Call[]): readonly string[] {
  if (!/^(strictO|looseO|o)bject$/.test(callee)) return [];
  const names = propertiesOf(first).map(({ key }) => nameOf(key) ?? '');
  if (!names.every((name) => SETTING.test(name))) return [];
  const isOwn = calls.some(
    (call) => /^define[A-Z]/.test(call.callee) && valueAt(call.first, 'settings') === node,
  );
  return names.filter((name) => isOwn || name.includes('_'));
}

function stringIn(object: SyntaxNode | null, key: string): string | null {
  const value = valueAt(object, key);
  return value?.type === 'StringLiteral' ? String(value['value']) : null;
}

function valueAt(object: SyntaxNode | null, key: string): SyntaxNode | null {
  const found = propertiesOf(object).find((property) => nameOf(property.key) === key)?.value;
  return isNode(found) ? found : null;
}

function propertiesOf(
  object: SyntaxNode | null,
): readonly { readonly key: unknown; readonly value: unknown }[] {
  const list = object?.type === 'ObjectExpression' ? object['properties'] : null;
  const properties = Array.isArray(list) ? list.filter(isNode) : [];
  return properties.flatMap((one) =>
    one.type === 'ObjectProperty' ? [{ key: one['key'], value: one['value'] }] : [],
  );
}

function nameOf(node: unknown): string | null {
  if (!isNode(node)) return null;
  if (node.type === 'Identifier') return String(node['name']);
  return node.type === 'StringLiteral' ? String(node['value']) : null;
}

function nodesIn(value: unknown): readonly SyntaxNode[] {
  if (Array.isArray(value)) return value.flatMap(nodesIn);
  if (!isNode(value)) return [];
  return [value, ...Object.values(value).flatMap(nodesIn)];
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && !('line' in value);
}
