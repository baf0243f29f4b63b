import { closeOpenMarks, isInFence } from '../../lib/open-marks.ts';
import type { OutboundDraft } from '../channel.ts';

/** Writes a draft as Markdown, with the sign that more will come, and a line on the current activity. */
export function draftText({ text, activity }: Pick<OutboundDraft, 'text' | 'activity'>): string {
  const closed = closeOpenMarks(text.trimEnd());
  if (closed.trim() === '') return activity === null ? '…' : `… ${activity}`;
  if (activity === null && !isInFence(closed)) return `${closed} …`;
  const whole = isInFence(closed) ? `${closed}\n\`\`\`` : closed;
  return activity === null ? `${whole}\n…` : `${whole}\n\n… ${activity}`;
}
