// The chart library, loaded by the panels that draw.
import uPlot from 'uplot';

const style = document.createElement('link');
style.rel = 'stylesheet';
style.href = new URL('charts.css', import.meta.url).href;
document.head.append(style);

export { uPlot };
