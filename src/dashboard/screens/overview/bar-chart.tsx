import { useEffect, useId, useRef, useState } from 'react';
import type uPlot from 'uplot';
import { useShownTheme } from '../../shell/theme.ts';
import { numberText } from '../../ui/format.ts';
import { type Chart, totalAt } from './chart.ts';
import { drawBars, stackOf } from './draw-bars.ts';
import styles from './overview.module.css';

interface BarChartProps {
  readonly chart: Chart;
  readonly tall: boolean;
}

/** Stacked bars. The pointer or the arrow keys choose a bar, whose values are then shown instead of the sums. */
export function BarChart({ chart, tall }: BarChartProps) {
  const { title, summary, names, series } = chart;
  const theme = useShownTheme();
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(chart);
  latest.current = chart;
  const [chosen, setChosen] = useState<number | null>(null);
  const summaryId = useId();
  const shape = JSON.stringify([names, series.map(({ name }) => name)]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another theme or another shape is another drawing.
  useEffect(() => {
    if (frame.current === null) return;
    const drawn = drawBars(frame.current, latest.current, setChosen);
    plot.current = drawn.plot;
    return drawn.remove;
  }, [theme, shape]);
  useEffect(() => plot.current?.setData(stackOf(chart)), [chart]);

  const last = names.length - 1;
  const at = chosen === null ? null : Math.min(chosen, last);
  const choose = (index: number) => {
    const { current } = plot;
    if (current === null) return;
    const next = Math.max(0, Math.min(last, index));
    current.setCursor({ left: current.valToPos(next, 'x'), top: 0 });
    setChosen(next);
  };
  const steps: Readonly<Record<string, () => number>> = {
    ArrowRight: () => (at ?? -1) + 1,
    ArrowLeft: () => (at ?? last + 1) - 1,
    Home: () => 0,
    End: () => last,
  };
  // The same names for every bar, so that nothing moves while the pointer does.
  const shown = series
    .map(({ name, color, values }) => {
      const sum = values.reduce((total, value) => total + value, 0);
      return { name, color, sum, value: at === null ? sum : (values[at] ?? 0) };
    })
    .filter(({ sum }) => sum > 0);
  const valuesText = shown.map(({ name, value }) => `${name} ${numberText(value)}`).join(', ');
  return (
    <figure className={styles.chart}>
      <figcaption className={styles.legend}>
        <span id={summaryId} className={styles.summary}>
          {at === null ? summary : names[at]}
          {at !== null && series.length === 1 && ': '}
          {at !== null && series.length === 1 && <strong>{numberText(totalAt(chart, at))}</strong>}
        </span>
        {series.length > 1 &&
          shown.map(({ name, color, value }) => (
            <span key={name} className={styles.key}>
              <span className={styles.swatch} style={{ background: color }} aria-hidden />
              {name} <strong>{numberText(value)}</strong>
            </span>
          ))}
      </figcaption>
      <div
        ref={frame}
        className={styles.plot}
        data-tall={tall}
        role="slider"
        tabIndex={0}
        aria-label={`${title}: choose a bar with the arrow keys`}
        aria-describedby={summaryId}
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={at ?? 0}
        aria-valuetext={at === null ? summary : `${names[at]}: ${valuesText}`}
        onKeyDown={(event) => {
          const step = steps[event.key];
          if (step === undefined) return;
          event.preventDefault();
          choose(step());
        }}
        onBlur={() => {
          plot.current?.setCursor({ left: -10, top: -10 });
          setChosen(null);
        }}
      />
    </figure>
  );
}
