import { z } from 'zod';

/** More tools, or longer words about them, cost each call of the model more than they help. */
const MAX_TOOLS = 32;
const MAX_SCHEMA_CHARS = 8_192;

const Link = z.string().min(1).max(64);
const Tool = z.object({
  name: z.string().regex(/^[a-zA-Z][a-zA-Z0-9_]{0,39}$/),
  description: z.string().transform((text) => text.slice(0, 1_000)),
  parameters: z
    .looseObject({ type: z.literal('object') })
    .refine((schema) => JSON.stringify(schema).length <= MAX_SCHEMA_CHARS),
});

/** A tool as a device describes it. */
export type DeviceTool = Readonly<z.output<typeof Tool>>;

const Frame = z.discriminatedUnion('frame', [
  z.object({
    frame: z.literal('hello'),
    link: Link,
    version: z.string().max(40).default('?'),
    free: z.number().nullish(),
    tools: z.array(z.unknown()),
  }),
  z.object({ frame: z.literal('alive'), link: Link }),
  z.object({ frame: z.literal('bye'), link: Link }),
  z.object({
    frame: z.literal('result'),
    link: Link,
    id: z.string(),
    ok: z.boolean(),
    value: z.unknown(),
  }),
]);

/** A frame from a device. */
export type DeviceFrame = Readonly<z.output<typeof Frame>>;

/** Reads a frame of a device; null for what is none, such as that of another assistant. */
export function deviceFrameIn(body: unknown): DeviceFrame | null {
  return Frame.safeParse(body).data ?? null;
}

/** Returns the tools of a hello that can be offered; one that cannot takes no other with it. */
export function toolsIn(listed: readonly unknown[]): readonly DeviceTool[] {
  const tools = new Map<string, DeviceTool>();
  for (const one of listed) {
    const tool = Tool.safeParse(one).data;
    if (tool !== undefined && tools.size < MAX_TOOLS) tools.set(tool.name, tool);
  }
  return [...tools.values()];
}
