-- A user for Grafana that reads the views for dashboards, and nothing else. Run it as the owner of the database, after the server has
-- created its tables, and replace the password.
CREATE ROLE grafana LOGIN PASSWORD 'replace this';
GRANT USAGE ON SCHEMA public TO grafana;
GRANT SELECT ON dashboard_opportunities, dashboard_answers, dashboard_days, dashboard_engines, dashboard_telemetry TO grafana;

-- Panels, as Grafana's query editor takes them:
-- acceptance by engine:  SELECT at AS time, arm AS metric, accepted::float / NULLIF(shown, 0) AS value FROM dashboard_engines
--                        WHERE $__timeFilter(at) ORDER BY at
-- latency by engine:     SELECT at AS time, arm AS metric, p95_ms AS value FROM dashboard_engines WHERE $__timeFilter(at) ORDER BY at
-- opportunities:         SELECT at AS time, language AS metric, opportunities AS value FROM dashboard_days WHERE $__timeFilter(at) ORDER BY at
