// The chart library, loaded by the panels that draw.
import uPlot from 'uplot';

export { uPlot };
