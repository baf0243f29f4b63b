import { deepStrictEqual } from 'node:assert';
import { ResultJson } from '@patchclaw/claw/contract';
import { SCHEMAS } from '../../packages/claw/src/contract/schemas.ts';

/**
 * Checks what a verb of the engine printed against its schema: each field is there and is what the schema
 * says, and there is none that the schema does not know.
 *
 * @throws AssertionError with the difference, ZodError
 */
export function checkContract(printed: object): void {
  const result = ResultJson.parse(printed);
  deepStrictEqual(result, printed, 'the printed object has fields that its schema does not know');
  const { verb, data } = result;
  if (data === null || !isVerb(verb)) return;
  const own = ownData(verb, data);
  deepStrictEqual(SCHEMAS[verb].parse(own), own, `data of ${verb} is not as its schema says`);
}

/** Leaves out what the command line adds to the engine's data: things of the assistant. */
function ownData(verb: string, data: unknown): unknown {
  const added = { status: 'assistant', doctor: 'part' }[verb];
  return JSON.parse(JSON.stringify(data, (key, value) => (key === added ? undefined : value)));
}

function isVerb(name: string): name is keyof typeof SCHEMAS {
  return Object.hasOwn(SCHEMAS, name);
}
