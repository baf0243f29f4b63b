// Functions of the engine that a command needs where two sides changed one text, or where a file is merged by key.
// They bring a hundred modules, and most commands call none of them: each module is loaded when it is called first.
import { readFileSync } from 'node:fs';
import module from 'node:module';

const require = module.createRequire(import.meta.url);
const ENGINE = new URL('../src/engine/', import.meta.url).href;
/** What a module exports beside types: the name of a function, or nothing of another value. */
const EXPORTED = /^export (?!type\b|interface\b)(?:function (\w+))?/gm;

/** Address of a module → the functions that stand here for it. @type {Map<string, string[]>} */
const functions = new Map();
/** Address of a module → whether these are still all that it exports. @type {Map<string, boolean>} */
const known = new Map();

export const conflictHunks = callLater('compose/conflict-hunks.ts', 'conflictHunks');
export const followImports = callLater('compose/imports/follow.ts', 'followImports');
export const faultTogether = callLater('compose/together.ts', 'faultTogether');
export const diffLines = callLater('merge/lines/diff.ts', 'diffLines');
export const createFaultFinder = callLater(
  'merge/syntax/faults/text-fault.ts',
  'createFaultFinder',
);
export const mergeFault = callLater('merge/syntax/faults/text-fault.ts', 'mergeFault');
export const tellFault = callLater('merge/syntax/faults/text-fault.ts', 'tellFault');
export const mergeTexts = callLater('merge/text.ts', 'mergeTexts');
export const composeStructured = callLater('structured/compose.ts', 'composeStructured');
export const mergeStructured = callLater('structured/merge.ts', 'mergeStructured');

/**
 * Tells whether this module can stand for another. Not for one that was changed to export something else: that is
 * loaded as any other.
 *
 * @param {string} url
 */
export function standsFor(url) {
  const isKnown = known.get(url);
  if (isKnown !== undefined) return isKnown;
  const names = functions.get(url);
  const is = names !== undefined && exportsOf(url) === names.join();
  known.set(url, is);
  return is;
}

/** @param {string} url */
function exportsOf(url) {
  return [...readFileSync(new URL(url), 'utf8').matchAll(EXPORTED)].map(([, name]) => name).join();
}

/**
 * Returns a function that calls one of a module, which is the same module as for whoever imports it.
 *
 * @param {string} path @param {string} name @returns {(...args: unknown[]) => unknown}
 */
function callLater(path, name) {
  const url = ENGINE + path;
  functions.set(url, [...(functions.get(url) ?? []), name]);
  /** @type {((...args: unknown[]) => unknown) | undefined} */
  let real;
  return (...args) => {
    real ??= require(`../src/engine/${path}`)[name];
    if (real === undefined) throw new Error(`${path} has no ${name}`);
    return real(...args);
  };
}
