import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { numberText } from '../../ui/format.ts';
import type { Chart } from './chart.ts';

/** The room that a name below a bar takes. So few names are all shown, shortened if need be. */
const tickWidth = 64;
const fewNames = 6;
const letterWidth = 6.5;

/** The places, and for each series the sum of its values and those below it, from the top: a bar covers those behind it. */
export function stackOf({ names, series }: Chart): uPlot.AlignedData {
  const places = names.map((_, index) => index);
  const sums: number[][] = [];
  for (const { values } of series) {
    const below = sums.at(-1);
    sums.push(places.map((index) => (below?.[index] ?? 0) + (values[index] ?? 0)));
  }
  return [places, ...sums.reverse()];
}

/** Colors of CSS as the canvas understands them. */
function createColorReader(frame: HTMLElement) {
  const probe = document.createElement('span');
  probe.hidden = true;
  frame.append(probe);
  const read = (color: string): string => {
    probe.style.color = color;
    return getComputedStyle(probe).color;
  };
  return { read, remove: () => probe.remove() };
}

/** Whole numbers only: a chart counts. */
const steps = Array.from({ length: 10 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();

/** Distances between names that read well: of hours, of quarters of days, and of days. */
const strides = [1, 2, 4, 8, 12, 24, 48];

/** The places whose names are shown, none of them cut off at the end. */
function ticksOf(length: number, width: number): number[] {
  const places = Array.from({ length }, (_, index) => index);
  if (length <= fewNames) return places;
  const perPlace = Math.max(1, width) / length;
  const stride = strides.find((candidate) => candidate * perPlace >= tickWidth) ?? length;
  return places.filter((index) => index % stride === 0 && (length - index) * perPlace >= tickWidth / 2);
}

const shortened = (name: string, room: number): string =>
  name.length <= room ? name : `${name.slice(0, Math.max(1, room - 1))}…`;

interface Drawn {
  readonly plot: uPlot;
  readonly remove: () => void;
}

/**
 * Draws a chart in the colors of the theme that is shown now, and keeps it as large as its frame.
 * @param onChoose is told the bar below the pointer
 */
export function drawBars(frame: HTMLElement, chart: Chart, onChoose: (index: number | null) => void): Drawn {
  const colors = createColorReader(frame);
  const ink = colors.read('var(--ink-3)');
  const line = colors.read('var(--line)');
  const surface = colors.read('var(--surface)');
  const font = `11px ${getComputedStyle(frame).fontFamily}`;
  const { length } = chart.names;
  const sizeOf = () => ({ width: Math.max(1, frame.clientWidth), height: Math.max(1, frame.clientHeight) });
  const bars = uPlot.paths.bars?.({ size: [0.74, 64], radius: 0.08 });
  const axis = { stroke: ink, font, ticks: { show: false } };
  const plot = new uPlot(
    {
      ...sizeOf(),
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
      padding: [8, 4, 0, 0],
      scales: {
        x: { time: false, range: [-0.6, length - 0.4] },
        y: { range: (_, __, most) => [0, Math.max(1, (most ?? 0) * 1.06)] },
      },
      axes: [
        {
          ...axis,
          size: 26,
          gap: 7,
          grid: { show: false },
          splits: ({ width }) => ticksOf(length, width - 48),
          values: ({ width }, splits) => {
            const room = length <= fewNames ? Math.floor((width - 48) / length / letterWidth) : Infinity;
            return splits.map((index) => shortened(chart.ticks[index] ?? '', room));
          },
        },
        {
          ...axis,
          size: (_, values) => 14 + 7 * Math.max(1, ...(values ?? []).map((value) => value.length)),
          gap: 6,
          space: 32,
          incrs: steps,
          grid: { stroke: line, width: 1 },
          values: (_, splits) => splits.map(numberText),
        },
      ],
      series: [
        {},
        ...[...chart.series].reverse().map(({ name, color }) => ({
          label: name,
          fill: colors.read(color),
          stroke: surface,
          width: chart.series.length > 1 ? 1 : 0,
          points: { show: false },
          ...(bars && { paths: bars }),
        })),
      ],
      hooks: {
        setCursor: [
          ({ cursor }) =>
            onChoose(cursor.left !== undefined && cursor.left >= 0 ? (cursor.idx ?? null) : null),
        ],
      },
    },
    stackOf(chart),
    frame,
  );
  const observer = new ResizeObserver(() => plot.setSize(sizeOf()));
  observer.observe(frame);
  return {
    plot,
    remove: () => {
      observer.disconnect();
      plot.destroy();
      colors.remove();
    },
  };
}
