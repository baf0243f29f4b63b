import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Decision, decisionOn } from '../../compose/resolve-conflict.ts';
import { suggestionsFor } from '../../compose/suggestions.ts';
import type { Conflict } from '../../conflict.ts';
import { resultOf, type VerbResult } from '../../contract/result.ts';
import { answersTemplate } from '../../decisions/answers.ts';
import { shownDecision } from '../../decisions/choice.ts';
import { placesIn } from '../../decisions/conflict-places.ts';
import { canBeDecided, isFinished } from '../../decisions/decide.ts';
import { rolesIn, takeWords } from '../../decisions/named-side.ts';
import { optionsOf } from '../../decisions/resolution-options.ts';
import { readResolutions } from '../../installed/resolution-file.ts';
import { readState, stateDigest } from '../../installed/state-file.ts';
import type { EngineContext } from '../../operation/context.ts';
import { notesPath } from '../../pending/files.ts';
import { PENDING, type Pending } from '../../pending/pending.ts';
import { readWaiting } from '../../pending/waiting.ts';

/**
 * Returns the operation that waits, with its conflicts, what is decided, and recordings that may fit.
 *
 * @param options with `answers` also a file of answers to fill in, as `data.answers`
 */
export function conflicts(
  { root }: EngineContext,
  { answers = false }: { readonly answers?: boolean } = {},
): VerbResult<'conflicts'> {
  const waiting = readWaiting(root);
  if (waiting === null)
    return resultOf('conflicts', 'done', { data: { operation: null, open: [] } });
  const { pending, decisions } = waiting;
  const state = readState(root);
  const recordings = readResolutions(root, state);
  const roles = rolesIn(pending, state);
  const details = waiting.conflicts.map((conflict) => ({
    ...notesOn(root, conflict),
    path: conflict.path,
    ...decided(conflict, decisionOn(conflict, decisions)),
    decidable: canBeDecided(conflict),
    takes: [...takeWords(conflict, roles)],
    places: placesIn(conflict),
    ways: optionsOf(conflict).map(({ rule, label }) => ({ rule, label })),
    sizes: {
      ours: conflict.sides.ours?.bytes.length ?? null,
      theirs: conflict.sides.theirs?.bytes.length ?? null,
    },
    text: conflict.hunks.length > 0 ? `${PENDING}/${conflict.path}` : null,
    values: conflict.values,
    edited: isFinished(root, conflict),
    candidates: conflict.candidates ?? [],
    offers: suggestionsFor(conflict, recordings).map(({ key, origin }) => ({ key, origin })),
  }));
  const data = {
    operation: { verb: pending.verb, arguments: pending.arguments },
    open: details.filter((one) => !one.decided).map(({ path }) => path),
    installed: {
      state: stateDigest(root),
      layers: state?.layers.map(({ name }) => name) ?? [],
    },
    details,
    ...(answers
      ? { answers: answersTemplate(nameOf(pending), waiting.conflicts, decisions, roles) }
      : {}),
  };
  return resultOf('conflicts', 'done', { data, conflicts: waiting.conflicts });
}

function nameOf({ verb, arguments: args }: Pending): string {
  return [verb, ...args].join(' ');
}

function decided(conflict: Conflict, decision: Decision | null) {
  return decision === null
    ? { decided: false, decision: null }
    : { decided: true, decision: shownDecision(conflict, decision) };
}

function notesOn(root: string, conflict: Conflict) {
  const notes = readNotes(root, conflict);
  const [ours, theirs] = conflict.layers;
  return { notes, keeps: { ours: layerNote(notes, ours), theirs: layerNote(notes, theirs) } };
}

/** Reads the notes of both sides' authors on the file, as laid out beside the conflict. */
function readNotes(root: string, conflict: Conflict): string | null {
  const place = join(root, PENDING, notesPath(conflict));
  return existsSync(place) ? readFileSync(place, 'utf8') : null;
}

const MAX_LENGTH = 240;

/**
 * Returns the line of a layer's intent notes that says what to keep, else their first; null without notes.
 *
 * @param notes of all sides, each below a heading with its layer and version
 */
function layerNote(notes: string | null, layer: string): string | null {
  const [, section = ''] = (notes ?? '').split(new RegExp(`^# ${escaped(layer)} \\S+$`, 'm'));
  const own = section.split(/^# \S+ \d+\.\d+\.\d+\S*$/m)[0] ?? '';
  const lines = own.split('\n').filter((line) => /\w/.test(line) && !line.startsWith('#'));
  const note = lines.find((line) => /must keep/i.test(line)) ?? lines[0];
  if (note === undefined) return null;
  const plain = note.replaceAll('**', '').replace(/\s+/g, ' ').trim();
  return plain.length > MAX_LENGTH ? `${plain.slice(0, MAX_LENGTH - 1)}…` : plain;
}

function escaped(text: string): string {
  return text.replace(/[^\w]/g, '\\$&');
}
