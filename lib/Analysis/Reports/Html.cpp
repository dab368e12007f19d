// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The HTML page: one file, no outside references, readable without its script.
#include "HtmlParts.h"

#include "ts/Analysis/Reports/Formats.h"
#include "ts/Analysis/Reports/Text.h"

namespace ts::reports {

using html::escape;

// Eight hues that colour-blind readers can tell apart; text never depends on them.
static constexpr const char *style = R"css(
:root{--ink:#1c2126;--soft:#5b6670;--line:#d9dee3;--paper:#fff;--wash:#f4f6f8;--good:#00704e;
--bad:#b3261e;--open:#8a5a00;--mark:#fff3c4;--wait:#e3a08f;--work:#7fa9cf;--busy:#3f7f5f}
@media (prefers-color-scheme:dark){:root{--ink:#e4e8ec;--soft:#9aa5af;--line:#353d45;--paper:#15191d;
--wash:#1d2328;--good:#4cc89a;--bad:#ff8a80;--open:#e8b64c;--mark:#4a3f14;--wait:#8d4a3a;--work:#3d6a94;
--busy:#4f9f77}}
*{box-sizing:border-box}
body{margin:0 auto;padding:24px;max-width:1240px;font:14px/1.45 system-ui,sans-serif;color:var(--ink);
background:var(--paper)}
h1{font-size:20px;margin:0}h2{font-size:17px;margin:36px 0 8px}h3{font-size:14px;margin:26px 0 8px}
h4{font-size:13px;margin:14px 0 6px;font-weight:600}
header p{margin:2px 0;color:var(--soft)}
code,pre,.op,.schedule,.timeline{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:12px}
code{color:var(--soft)}
.verdict{border-left:5px solid var(--open);background:var(--wash);padding:10px 14px;font-weight:600;
overflow-wrap:anywhere}
.verdict.proven{border-color:var(--good)}.verdict.refuted{border-color:var(--bad)}
pre{background:var(--wash);padding:10px 14px;overflow-x:auto;margin:8px 0}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-size:13px}
th,td{text-align:left;padding:3px 12px 3px 6px;vertical-align:top;border-bottom:1px solid var(--line)}
thead th{color:var(--soft);font-weight:600;border-bottom:2px solid var(--line)}
th small{display:block;font-weight:400}
.schedule td,.schedule th{border-bottom:0;white-space:nowrap;padding-top:1px;padding-bottom:1px}
.schedule tbody th{color:var(--soft);font-weight:400}
.schedule tr.first>*{border-top:1px solid var(--line)}
.schedule tr.open{font-weight:600}
.schedule tr.d1>*{background:color-mix(in srgb,var(--wash) 60%,transparent)}
.schedule tr.d2>*,.schedule tr.d3>*{background:var(--wash)}
.op{display:inline-block;border-left:4px solid transparent;padding:0 5px}
.lit{background:var(--mark)}rect.lit{stroke:var(--ink);stroke-width:2;vector-effect:non-scaling-stroke}
.c0{border-color:#0072b2;fill:#0072b2}.c1{border-color:#e69f00;fill:#e69f00}
.c2{border-color:#009e73;fill:#009e73}.c3{border-color:#cc79a7;fill:#cc79a7}
.c4{border-color:#56b4e9;fill:#56b4e9}.c5{border-color:#d55e00;fill:#d55e00}
.c6{border-color:#b8a800;fill:#b8a800}.c7{border-color:#8a8a8a;fill:#8a8a8a}
.timeline td{white-space:nowrap}.timeline .idle{color:var(--soft)}
.timeline .blocked{background:var(--wait);font-weight:600}
.notes{margin:8px 0;padding-left:20px}.help{background:var(--mark);padding:6px 12px}
svg.bar{width:100%;height:auto;max-height:120px;display:block;margin-bottom:8px}
svg.bar .room{fill:var(--wash);stroke:var(--line)}
svg.bar .item{stroke:var(--paper);stroke-width:1;vector-effect:non-scaling-stroke}
.item:not([data-r]){fill:#8a8a8a}
.rates{white-space:nowrap}.rate{display:inline-block;text-align:center;width:52px;color:var(--soft)}
.rate i{display:block;width:20px;margin:0 auto;background:var(--work)}.rate.declared{color:var(--ink);
font-weight:700}.rate.declared i{background:var(--busy)}.rate small{display:block}
.gantt{display:flex;border:1px solid var(--line)}.gantt .names{flex:none;border-right:1px solid var(--line);
padding-bottom:14px}
.gantt .names div{height:24px;line-height:24px;padding:0 10px;font-size:12px;white-space:nowrap}
.gantt .names .unit{color:var(--soft)}.gantt .lanes{flex:auto;overflow-x:auto;min-width:0}
.gantt svg{width:100%;display:block}
.waits{fill:var(--wait)}.works{fill:var(--work)}.busy{fill:var(--busy)}
.key span{display:inline-block;width:12px;height:12px;margin:0 5px 0 12px;vertical-align:-2px}
.zoom,.key{color:var(--soft);margin:4px 0}
.diagnostics li{margin:4px 0}.error>b{color:var(--bad)}.warning>b{color:var(--open)}
)css";

// Hovering over anything of a resource lights up all of it; the slider stretches the run.
static constexpr const char *script = R"js(
for (const section of document.querySelectorAll('section')) {
  const light = (event, on) => {
    const mark = event.target.closest('[data-r]');
    if (mark) for (const other of section.querySelectorAll(`[data-r="${mark.dataset.r}"]`))
      other.classList.toggle('lit', on);
  };
  section.addEventListener('mouseover', event => light(event, true));
  section.addEventListener('mouseout', event => light(event, false));
  const slider = section.querySelector('.zoom input'), lanes = section.querySelector('.gantt svg');
  if (slider && lanes)
    slider.addEventListener('input', () => { lanes.style.width = slider.value * 100 + '%'; });
}
)js";

static std::string kernelSection(const KernelInput &input, const SteadyState *model) {
  std::string out = "<section><h2>" + escape(input.kernel.name) + "</h2>";
  out += "<p class=\"verdict " + std::string(verdictWord(input.verdict)) + "\">" +
         escape(verdictLine(input)) + "</p>";
  // The summary's first line is the verdict.
  std::string summary = formatSummary(input, model);
  out += "<pre>" + escape(summary.substr(summary.find('\n') + 1)) + "</pre>";
  if (input.verdict && input.verdict->fault)
    out += "<h3>Counter-example</h3>" + html::timeline(input);
  if (input.kernel.tasks.empty())
    return out + "</section>";
  out += "<h3>Schedule</h3>" + html::schedule(input);
  if (model && model->problem.empty()) {
    out += "<h3>Steady state (a model)</h3>" + html::stageRates(input, *model);
    if (std::string run = html::gantt(*model); !run.empty())
      out += "<h4>Modelled run</h4>" + run +
             "<p class=\"key\"><span class=\"k\" style=\"background:var(--work)\"></span>works"
             "<span style=\"background:var(--wait)\"></span>waits"
             "<span style=\"background:var(--busy)\"></span>unit busy</p>";
  }
  out += "<h3>Resources and barriers</h3>" + html::resources(input);
  out += "<h3>Memory map</h3>" + html::memory(input);
  return out + "</section>";
}

std::string formatHtml(const Input &input, const Models &models) {
  std::string title = "ts report: " + input.source;
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
                    "<title>" +
                    escape(title) + "</title><style>" + style +
                    "</style></head><body><header><h1>" + escape(input.source) + "</h1><p>" +
                    escape(input.arch) + " &middot; " +
                    escape(input.tool + " " + input.toolVersion) + "</p></header>\n";
  if (input.failed)
    out +=
        "<p class=\"verdict refuted\">The program has errors; what is shown may be incomplete.</p>";
  for (size_t k = 0; k < input.kernels.size(); ++k)
    out += kernelSection(input.kernels[k], k < models.size() ? &models[k] : nullptr) + "\n";
  out += html::diagnostics(input);
  return out + "<script>" + script + "</script></body></html>\n";
}

} // namespace ts::reports
