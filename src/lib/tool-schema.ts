import { createHash } from 'node:crypto';

/**
 * JSON Schemas of tools, rewritten so that every model's server takes them.
 *
 * Servers accept less than JSON Schema allows. Anthropic and OpenAI refuse `anyOf`, `oneOf`, `allOf`, `enum` and `not`
 * at the top, Anthropic refuses names of properties with other signs than letters, digits, `_`, `.` and `-`, and OpenAI
 * refuses an array without `items`. A request with one such tool is refused as a whole.
 */

type Fields = Readonly<Record<string, unknown>>;

/** The names of properties that every server takes. */
export const PROPERTY_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;
/** Deeper schemas are cut: validators of servers recurse. */
const MAX_DEPTH = 32;
const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];
/** Keywords that no server takes at the top of a schema. */
const NOT_AT_TOP = [
  'anyOf',
  'oneOf',
  'allOf',
  'enum',
  'const',
  'not',
  'if',
  'then',
  'else',
  '$ref',
];
/** Keywords of other drafts, and those that only name the schema. */
const DROPPED = ['$schema', '$id', '$anchor', 'id', '$comment', 'examples', 'dependencies'];
/** Keywords whose value is a schema; those whose value is a list of schemas; those with schemas by name. */
const ONE = [
  'items',
  'additionalProperties',
  'not',
  'contains',
  'propertyNames',
  'if',
  'then',
  'else',
];
const LIST = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const NAMED = ['properties', 'patternProperties', '$defs', 'definitions'];

/** A schema as a model is shown it, and the way back for what the model answers. */
export type ToolInput = {
  readonly schema: Fields;
  /** Returns input under the names that the tool itself gave its properties. */
  readonly restore: (input: unknown) => unknown;
};

/** Rewrites the schema of a tool's input for all servers. Properties with names that some refuse get others. */
export function toolInputFor(schema: Fields): ToolInput {
  const renamed = new Map<string, string>();
  const plain = plainToolSchema(schema, (name) => {
    const other = otherName(name);
    renamed.set(other, name);
    return other;
  });
  return {
    schema: plain,
    restore: renamed.size === 0 ? (input) => input : (input) => withNames(input, renamed),
  };
}

/**
 * Rewrites the schema of a tool's input for all servers.
 *
 * @param nameFor returns the name to use for a property whose name a server would refuse; null leaves it out
 */
export function plainToolSchema(
  schema: Fields,
  nameFor: (name: string) => string | null = () => null,
): Fields {
  const top = folded(schema, schema, 0);
  const whole = schemaFor({ type: 'object', ...top }, { root: schema, nameFor, depth: 0 });
  const properties = isFields(whole['properties']) ? whole['properties'] : {};
  return { ...whole, type: 'object', properties };
}

/** Returns the reason why no server would accept this tool; null if `plainToolSchema` makes it fit. */
export function problemOfTool(name: string, schema: Fields): string | null {
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name)) return 'its name has signs that model servers refuse';
  const required = requiredIn(folded(schema, schema, 0));
  const bad = required.find((one) => !PROPERTY_NAME.test(one));
  return bad === undefined
    ? null
    : `its input ${JSON.stringify(bad)} has a name that model servers refuse`;
}

/** Merges what stands in `anyOf`, `oneOf`, `allOf` and `$ref` at the top into one object. */
function folded(schema: Fields, root: Fields, depth: number): Fields {
  if (depth > MAX_DEPTH) return {};
  const own = Object.fromEntries(
    Object.entries(schema).filter(([key]) => !NOT_AT_TOP.includes(key)),
  );
  const target = typeof schema['$ref'] === 'string' ? resolved(root, schema['$ref']) : null;
  const parts = [...(target === null ? [] : [target]), ...listOf(schema['allOf'])].map((one) =>
    folded(one, root, depth + 1),
  );
  const choices = [listOf(schema['anyOf']), listOf(schema['oneOf'])]
    .filter((list) => list.length > 0)
    .map((list) => list.map((one) => folded(one, root, depth + 1)));
  if (parts.length === 0 && choices.length === 0) return own;
  const properties: Record<string, unknown> = {};
  const variants = [own, ...parts, ...choices.flat()];
  for (const variant of variants) {
    for (const [name, value] of Object.entries(fieldsIn(variant['properties']))) {
      const before = Object.hasOwn(properties, name) ? properties[name] : undefined;
      set(properties, name, before === undefined ? value : either(before, value));
    }
  }
  const required = new Set([own, ...parts].flatMap(requiredIn));
  for (const list of choices) {
    const [first, ...others] = list.map(requiredIn);
    for (const name of first ?? []) {
      if (others.every((other) => other.includes(name))) required.add(name);
    }
  }
  const hint = choices.map(hintOf).filter((text) => text !== '');
  const description = [own['description'], ...hint].filter((text) => typeof text === 'string');
  const definitions = Object.assign(
    {},
    ...variants.map(({ $defs, definitions: older }) => ({
      ...fieldsIn($defs),
      ...fieldsIn(older),
    })),
  );
  return {
    ...own,
    properties,
    ...(required.size === 0 ? {} : { required: [...required] }),
    ...(description.length === 0 ? {} : { description: description.join(' ') }),
    ...(Object.keys(definitions).length === 0 || '$defs' in own ? {} : { $defs: definitions }),
  };
}

/** Says in words which inputs go together, where the schema can no longer say it. */
function hintOf(variants: readonly Fields[]): string {
  const sets = [...new Set(variants.map((one) => requiredIn(one).join(' and ')))];
  if (sets.length < 2 || sets.includes('')) return '';
  return `Give one of these: ${sets.join('; or ')}.`;
}

function either(one: unknown, other: unknown): unknown {
  const same = JSON.stringify(one) === JSON.stringify(other);
  return same ? one : { anyOf: [one, other] };
}

type Walk = {
  readonly root: Fields;
  readonly nameFor: (name: string) => string | null;
  readonly depth: number;
};

function schemaFor(given: unknown, walk: Walk): Fields {
  const below = { ...walk, depth: walk.depth + 1 };
  if (!isFields(given) || walk.depth > MAX_DEPTH) return {};
  const made: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(given)) {
    if (DROPPED.includes(key)) continue;
    if (ONE.includes(key)) set(made, key, oneSchema(key, value, below));
    else if (LIST.includes(key)) {
      const list = listOf(value).map((each) => schemaFor(each, below));
      if (list.length > 0) set(made, key, list);
    } else if (NAMED.includes(key)) set(made, key, namedSchemas(key, value, below));
    else set(made, key, value);
  }
  return tidy(made, walk);
}

function oneSchema(key: string, value: unknown, walk: Walk): unknown {
  // A list of items is a tuple of older drafts.
  if (Array.isArray(value)) {
    return { anyOf: value.filter(isFields).map((each) => schemaFor(each, walk)) };
  }
  if (typeof value === 'boolean') return key === 'items' ? {} : value;
  return schemaFor(value, walk);
}

function namedSchemas(key: string, value: unknown, walk: Walk): Fields {
  const made: Record<string, unknown> = {};
  for (const [name, each] of Object.entries(fieldsIn(value))) {
    if (each === false) continue;
    const isFine = key !== 'properties' || PROPERTY_NAME.test(name);
    const as = isFine ? name : walk.nameFor(name);
    if (as !== null) set(made, as, schemaFor(each === true ? {} : each, walk));
  }
  return made;
}

/** Mends keywords that are wrong or of another draft. */
function tidy(made: Record<string, unknown>, { root, nameFor }: Walk): Fields {
  const { type, required, enum: values, pattern, $ref } = made;
  if (typeof $ref === 'string' && resolved(root, $ref) === null) delete made['$ref'];
  if (type !== undefined) {
    const types = (Array.isArray(type) ? type : [type]).filter((each) => TYPES.includes(each));
    if (types.length === 0) delete made['type'];
    else made['type'] = types.length === 1 ? types[0] : types;
  }
  if (required !== undefined) {
    const properties = fieldsIn(made['properties']);
    const names = requiredIn(made).flatMap((name) =>
      PROPERTY_NAME.test(name) ? name : (nameFor(name) ?? []),
    );
    // A name without a property is refused by some servers, and means little to a model.
    const known = [...new Set(names)].filter((name) => Object.hasOwn(properties, name));
    if (known.length > 0) made['required'] = known;
    else delete made['required'];
  }
  if (values !== undefined && (!Array.isArray(values) || values.length === 0)) delete made['enum'];
  if (pattern !== undefined && !isPattern(pattern)) delete made['pattern'];
  for (const [flag, limit] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (typeof made[flag] !== 'boolean') continue;
    const bound = made[limit];
    const isStrict = made[flag] === true && typeof bound === 'number';
    delete made[flag];
    if (!isStrict) continue;
    delete made[limit];
    made[flag] = bound;
  }
  const isArray =
    made['type'] === 'array' || (Array.isArray(made['type']) && made['type'].includes('array'));
  if (isArray && made['items'] === undefined) made['items'] = {};
  return made;
}

function isPattern(pattern: unknown): boolean {
  if (typeof pattern !== 'string') return false;
  try {
    return new RegExp(pattern, 'u') instanceof RegExp;
  } catch {
    // A server that reads it would refuse the whole request.
    return false;
  }
}

/** Finds a local reference; null for one that leads elsewhere or nowhere. */
function resolved(root: Fields, ref: string): Fields | null {
  if (!ref.startsWith('#/')) return null;
  let at: unknown = root;
  for (const part of ref.slice(2).split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (!isFields(at) || !Object.hasOwn(at, key)) return null;
    at = at[key];
  }
  return isFields(at) ? at : null;
}

function otherName(name: string): string {
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 6);
  const plain = name
    .replace(/[^a-zA-Z0-9_.-]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, 50);
  return `${plain === '' ? 'input' : plain}_${digest}`;
}

function withNames(input: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(input)) return input.map((each) => withNames(each, names));
  if (!isFields(input)) return input;
  const made: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(input)) {
    set(made, names.get(name) ?? name, withNames(value, names));
  }
  return made;
}

/** Sets a property of its own, also one that is called `__proto__`. */
function set(made: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(made, name, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}

function requiredIn({ required }: Fields): readonly string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
}

function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : [];
}

function fieldsIn(value: unknown): Fields {
  return isFields(value) ? value : {};
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
