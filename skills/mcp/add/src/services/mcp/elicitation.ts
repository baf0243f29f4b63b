import type { ElicitRequest, ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import { visible } from '@patchclaw/claw/text';
import { z } from 'zod';
import type { Ask } from '../../host/contracts/ask.ts';

/** A longer form is not a question in a chat any more. */
const MAX_FIELDS = 6;
const MAX_CHOICES = 9;

const Field = z.looseObject({
  type: z.enum(['string', 'number', 'integer', 'boolean']).default('string'),
  title: z.string().optional(),
  description: z.string().optional(),
  enum: z.array(z.string()).optional(),
  oneOf: z.array(z.looseObject({ const: z.string(), title: z.string().optional() })).optional(),
  default: z.union([z.string(), z.number(), z.boolean()]).optional(),
});

const Form = z.looseObject({
  message: z.string(),
  requestedSchema: z.looseObject({
    properties: z.record(z.string(), z.unknown()).default({}),
  }),
});

/** Asks the owner what a server wants to know, a question for each field. A `no` or no answer declines. */
export async function elicit(
  server: string,
  params: ElicitRequest['params'],
  ask: Ask,
): Promise<ElicitResult> {
  const { data: form } = Form.safeParse(params);
  if (form === undefined) return { action: 'decline' };
  const fields = Object.entries(form.requestedSchema.properties);
  const who = `The tool server ${server} asks:\n\n${quoted(form.message)}`;
  if (fields.length === 0) {
    const { word, isAnswered } = await ask({ text: who });
    if (word === 'yes') return { action: 'accept', content: {} };
    return { action: isAnswered ? 'decline' : 'cancel' };
  }
  if (fields.length > MAX_FIELDS) return { action: 'decline' };
  const proposed = proposedOf(form.requestedSchema.properties);
  if (proposed !== null) {
    const { word, isAnswered } = await ask({ text: who, choices: PROPOSED, payload: proposed });
    if (word === 'yes') return { action: 'accept', content: proposed };
    if (word !== 'change') return { action: isAnswered ? 'decline' : 'cancel' };
  }
  const content: Record<string, string | number | boolean> = {};
  for (const [index, [name, schema]] of fields.entries()) {
    const field = Field.safeParse(schema).data;
    if (field === undefined) return { action: 'decline' };
    const answer = await askField({ name, field, who: index === 0 ? who : `${server}:` }, ask);
    if (answer.kind !== 'given') return { action: answer.kind };
    content[name] = answer.value;
  }
  return { action: 'accept', content };
}

const PROPOSED = [
  { word: 'yes', label: 'take these values' },
  { word: 'change', label: 'change them' },
  { word: 'no', label: 'answer nothing' },
];

/** Returns the values that a server proposes; null where it leaves one open. */
function proposedOf(
  properties: Readonly<Record<string, unknown>>,
): Record<string, string | number | boolean> | null {
  const values: Record<string, string | number | boolean> = {};
  for (const [name, schema] of Object.entries(properties)) {
    const value = Field.safeParse(schema).data?.default;
    if (value === undefined) return null;
    values[name] = value;
  }
  return values;
}

type Asked = {
  readonly name: string;
  readonly field: z.output<typeof Field>;
  readonly who: string;
};

type Answer =
  | { readonly kind: 'given'; readonly value: string | number | boolean }
  | { readonly kind: 'decline' | 'cancel' };

async function askField({ name, field, who }: Asked, ask: Ask): Promise<Answer> {
  const label = field.title ?? name;
  const what = field.description === undefined ? label : `${label}: ${field.description}`;
  const text = `${who}\n\n${quoted(what)}`;
  const options = field.oneOf?.map((one) => ({ value: one.const, label: one.title ?? one.const }));
  const choices = options ?? field.enum?.map((value) => ({ value, label: value }));
  if (field.type === 'boolean') {
    const { word, isAnswered } = await ask({ text });
    return isAnswered ? { kind: 'given', value: word === 'yes' } : { kind: 'cancel' };
  }
  if (choices !== undefined && choices.length >= 2 && choices.length <= MAX_CHOICES) {
    const given = choices.map((choice, index) => ({ word: `${index + 1}`, label: choice.label }));
    const { word, isAnswered } = await ask({ text, choices: given });
    const chosen = choices[Number(word) - 1];
    if (!isAnswered || chosen === undefined) return { kind: isAnswered ? 'decline' : 'cancel' };
    return { kind: 'given', value: chosen.value };
  }
  const { word, text: said } = await ask({ text, takesText: true });
  if (word !== 'text' || said === undefined) return { kind: 'cancel' };
  if (field.type === 'string') return { kind: 'given', value: said };
  const number = Number(said.replace(',', '.'));
  const fits = Number.isFinite(number) && (field.type === 'number' || Number.isInteger(number));
  return fits ? { kind: 'given', value: number } : { kind: 'decline' };
}

/** Quotes a server's words line by line: nothing of them may look like the host's own. */
function quoted(text: string): string {
  return visible(text.slice(0, 1_500))
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');
}
