import type { Settings } from '../config.ts';
import type { Environment } from '../lib/settings.ts';
import {
  discoverEngines,
  type EngineContribution,
  type EngineLook,
  EngineUnusable,
} from './engines/engine.ts';
import { findersOf } from './open.ts';

/** The engine that agents would run in if the assistant started now. */
export type SandboxLook = EngineLook & {
  readonly chosen: string | null;
  /** Engines that would have been better, and why they cannot be used. */
  readonly refused: readonly { readonly name: string; readonly reason: string }[];
  /** All engines of this tree, best first. */
  readonly engines: readonly EngineContribution[];
};

/** Asks the engines as a start would, and makes nothing. */
export async function examineSandbox(parts: {
  readonly projectDir: string;
  readonly settings: Settings;
  readonly homeDir: string;
  readonly environment: Environment;
}): Promise<SandboxLook> {
  const engines = await discoverEngines();
  const refused: { name: string; reason: string }[] = [];
  for (const { name, find } of findersOf(engines, parts)) {
    try {
      return { chosen: name, refused, engines, ...(await find().look()) };
    } catch (error) {
      if (!(error instanceof EngineUnusable)) throw error;
      refused.push({ name, reason: error.message });
    }
  }
  const nothing = { description: '', image: null, containers: [], rootDir: null };
  return { chosen: null, refused, engines, ...nothing };
}
