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
/** A player trims so much at most of what the packets hold. */
const TRIMMED_SECONDS = 1;

/**
 * Reads the time of a recording in Ogg with Opus from its last page, and from its packets where these last longer; null
 * where the file is none. The waveform is made of the sizes of its packets, which grow with what there is to hear, so
 * that nothing has to be decoded.
 */
export function readOpus(bytes: Uint8Array): Recording | null {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const packets: number[] = [];
  let last = 0n;
  let skipped: number | null = null;
  let samples = 0;
  let isWithinPacket = false;
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
      let packetAt = bodyAt;
      for (const size of sizes) {
        if (!isWithinPacket) samples += samplesOf(view.subarray(packetAt, packetAt + size));
        // A packet goes on after a piece of the full size.
        isWithinPacket = size === 255;
        packetAt += size;
      }
      const position = view.readBigInt64LE(at + 6);
      if (position > last) last = position;
    }
    at = bodyEnd;
  }
  if (skipped === null || packets.length === 0) return null;
  const told = Math.max(0, Number(last) - skipped) / OPUS_RATE;
  const held = samples / OPUS_RATE;
  // The last page says what its writer wants, and of several recordings in one file the time of one.
  const seconds = held > told + TRIMMED_SECONDS ? held : told;
  return { bytes, seconds, waveform: waveformOf(packets) };
}

/** Returns for how long a packet plays, by its first bytes. Source: RFC 6716, section 3.1 */
function samplesOf(packet: Buffer): number {
  const [toc, more = 0] = packet;
  if (toc === undefined || /^Opus(Head|Tags)/.test(packet.toString('latin1', 0, 8))) return 0;
  const config = toc >> 3;
  const silk = [10, 20, 40, 60][config & 3] ?? 0;
  const celt = [2.5, 5, 10, 20][config & 3] ?? 0;
  const milliseconds = config < 12 ? silk : config < 16 ? 10 * (1 + (config & 1)) : celt;
  const frames = [1, 2, 2, more & 63][toc & 3] ?? 0;
  return (milliseconds * frames * OPUS_RATE) / 1_000;
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
