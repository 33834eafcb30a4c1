CREATE OR REPLACE VIEW dashboard_opportunities AS
    SELECT to_timestamp(opened_at / 1000.0) AS at, developer, trial, mode, language, privacy, exposure, outcome, scenario,
           accepted_chars, secrets
    FROM opportunities;
CREATE OR REPLACE VIEW dashboard_answers AS
    SELECT to_timestamp(o.opened_at / 1000.0) AS at, o.developer, o.trial, o.language, o.outcome, o.exposure,
           a.arm, a.model, a.role, a.status, a.total_ms, a.first_ms, a.exact_match, a.edit_similarity, a.cost
    FROM answers a JOIN opportunities o ON o.id = a.opportunity;
CREATE OR REPLACE VIEW dashboard_days AS
    SELECT date_trunc('day', at) AS at, language, COUNT(*) AS opportunities, COUNT(DISTINCT developer) AS developers,
           COUNT(*) FILTER (WHERE outcome <> 'not_shown') AS shown, COUNT(*) FILTER (WHERE outcome = 'accepted') AS accepted,
           SUM(accepted_chars) AS accepted_chars
    FROM dashboard_opportunities GROUP BY 1, 2;
CREATE OR REPLACE VIEW dashboard_engines AS
    SELECT date_trunc('day', at) AS at, arm, model, COUNT(*) AS answers, COUNT(DISTINCT developer) AS developers,
           COUNT(*) FILTER (WHERE role = 'shown' AND outcome = 'accepted') AS accepted,
           COUNT(*) FILTER (WHERE role = 'shown' AND outcome <> 'not_shown') AS shown,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY total_ms) AS median_ms,
           percentile_cont(0.95) WITHIN GROUP (ORDER BY total_ms) AS p95_ms,
           COUNT(exact_match) AS judged, SUM(exact_match) AS exact
    FROM dashboard_answers GROUP BY 1, 2, 3;
CREATE OR REPLACE VIEW dashboard_telemetry AS
    SELECT to_timestamp(at / 1000.0) AS at, developer, kind, name, body::json AS record FROM telemetry;
