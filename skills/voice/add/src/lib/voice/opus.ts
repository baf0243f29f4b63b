/** A recording in Ogg, as messengers play it: its time, and how loud it is over that time. */
export type Recording = {
  readonly bytes: Uint8Array;
  readonly seconds: number;
  /** 64 values from 0 to 100. */
  readonly waveform: Uint8Array;
};

const OPUS_RATE = 48_000;
const HEADER_BYTES = 27;
const BARS = 64;
const LOUDEST = 100;

/**
 * Reads the time of a recording in Ogg with Opus from its last page; null where the file is none. The waveform is made
 * of the sizes of its packets, which grow with what there is to hear, so that nothing has to be decoded.
 */
export function readOpus(bytes: Uint8Array): Recording | null {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const packets: number[] = [];
  let last = 0n;
  let skipped: number | null = null;
  for (let at = 0; at < view.length; ) {
    if (view.length < at + HEADER_BYTES || view.toString('latin1', at, at + 4) !== 'OggS')
      return null;
    const segments = view.readUInt8(at + 26);
    const bodyAt = at + HEADER_BYTES + segments;
    const sizes = view.subarray(at + HEADER_BYTES, bodyAt);
    const bodyEnd = bodyAt + sizes.reduce((sum, size) => sum + size, 0);
    if (skipped === null) {
      if (view.toString('latin1', bodyAt, bodyAt + 8) !== 'OpusHead') return null;
      skipped = view.length >= bodyAt + 12 ? view.readUInt16LE(bodyAt + 10) : 0;
    } else {
      packets.push(...sizes.filter((size) => size > 0));
      const position = view.readBigInt64LE(at + 6);
      if (position > last) last = position;
    }
    at = bodyEnd;
  }
  if (skipped === null || packets.length === 0) return null;
  const seconds = Math.max(0, Number(last) - skipped) / OPUS_RATE;
  return { bytes, seconds, waveform: waveformOf(packets) };
}

function waveformOf(packets: readonly number[]): Uint8Array {
  const loudest = packets.reduce((most, size) => Math.max(most, size), 1);
  return Uint8Array.from({ length: BARS }, (_, bar) => {
    const from = Math.floor((bar * packets.length) / BARS);
    const upto = Math.max(from + 1, Math.floor(((bar + 1) * packets.length) / BARS));
    const here = packets.slice(from, upto);
    const mean = here.reduce((sum, size) => sum + size, 0) / Math.max(1, here.length);
    return Math.min(LOUDEST, Math.round((mean / loudest) * LOUDEST));
  });
}
