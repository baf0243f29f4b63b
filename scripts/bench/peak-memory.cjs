// Loaded into each Node of a measured command: on its way out it says how much memory it had in use at most, in
// kilobytes. Linux counts the process that started this one into `maxRSS`, and keeps the command's own in a file.
const { appendFileSync, readFileSync } = require('node:fs');

process.on('exit', () => {
  appendFileSync(String(process.env.BENCH_PEAKS), `${ownPeak()}\n`);
});

function ownPeak() {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS;
  const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  if (peak === undefined) throw new Error('Linux does not say how much memory was used.');
  return Number(peak);
}
