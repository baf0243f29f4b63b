import type { ChannelSubject } from '../../src/testing/channel/far-end.ts';

/** Channels whose tests of the rules were imported. */
export const subjects: ChannelSubject[] = [];

/** Takes the place of the function that registers those tests (`channels.ts`). */
export function testChannel(subject: ChannelSubject): void {
  subjects.push(subject);
}
